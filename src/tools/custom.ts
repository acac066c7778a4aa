import type { CustomToolConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { compileSchema } from '../core/json-schema.ts';
import { modernise } from '../core/offered-schema.ts';
import type { OutputIssue } from '../core/outcome.ts';
import type { Tool } from '../core/ports.ts';
import { type ProcessParts, runProcess } from './bash.ts';
import type { CheckInput } from './plain-schema.ts';

const SHOWN_ISSUES = 5;

/** The task's own tools in its order, with the checkers of their inputs; a schema that does not compile is a UsageError. */
export async function createCustomTools(
  configs: readonly CustomToolConfig[],
  parts: ProcessParts,
): Promise<{ tools: Tool[]; checkers: Map<string, CheckInput> }> {
  const checkers = new Map<string, CheckInput>();
  for (const config of configs) checkers.set(config.name, await compileChecker(config));
  return { tools: configs.map((config) => createCustomTool(config, parts)), checkers };
}

function createCustomTool(config: CustomToolConfig, parts: ProcessParts): Tool {
  const { name, description, input_schema, ok_exit_codes } = config;
  return {
    definition: { name, description, input_schema: modernise(input_schema) },
    async execute(_call, plan, context) {
      if (plan.kind !== 'argv') throw new Error(`${name} cannot run a plan of kind ${plan.kind}`);
      const { argv, stdin } = plan;
      return runProcess(argv, parts, context, { ok_exit_codes, ...(stdin !== undefined && { stdin }) });
    },
  };
}

async function compileChecker({ name, input_schema }: CustomToolConfig): Promise<CheckInput> {
  const compiled = await compileSchema(input_schema, { source: `the input_schema of ${name}` });
  if (!compiled.ok) {
    const issues = compiled.issues.map(issueText).join('; ');
    throw new UsageError(`custom_tools: the input_schema of "${name}" does not compile: ${issues}`);
  }
  return (input) => compiled.validate(input).slice(0, SHOWN_ISSUES).map(issueText);
}

function issueText({ pointer, message }: OutputIssue): string {
  return pointer === '' ? message : `${pointer}: ${message}`;
}
