import { createBudget } from '../budget/budget.ts';
import { mcpToolRules } from '../core/mcp.ts';
import { SKILL_LIMITS, SKILL_TOOL } from '../core/ports.ts';
import { createGate } from '../output/gate.ts';
import { explain } from './explain.ts';
import type { Parts } from '../agent/loop.ts';
import type { CallLimits, TaskConfig } from '../core/config.ts';
import type { ModelClient } from '../core/ports.ts';
import type { CompiledGate } from '../output/gate.ts';
import type { Prompts } from '../prompts/texts.ts';

/** What decides in a run and needs no workspace, so that a replay decides by the same. */
export type Deciding = Omit<
  Parts,
  'registry' | 'policy' | 'verify' | 'redact' | 'filter' | 'keepOutput' | 'clock' | 'ordinary'
> & {
  gate: CompiledGate;
  prompts: Prompts;
};

const NO_RULES: CallLimits = { max_output_bytes: 30 * 1024, on_denied: 'continue' };

/** Compiles what a task says of its output and limits. Throws UsageError for a schema that is none. */
export async function decidingParts(task: TaskConfig, model: ModelClient, prompts: Prompts): Promise<Deciding> {
  const rules = [...task.tools, ...task.custom_tools, ...mcpToolRules(task.mcp_servers)];
  return {
    model,
    max_output_tokens: model.max_output_tokens,
    context_tokens: task.model.context_tokens ?? model.context_tokens,
    summarizes: model.summarizes === true,
    diagnoses_cache: model.diagnoses_cache === true,
    gate: await createGate(task.output, {
      prompts: task.prompts.length,
      native: takesSchemas(task),
    }),
    budget: createBudget(task.limits, model.prices),
    texts: prompts.texts,
    prompts,
    callLimits: (name) => rules.find((rule) => rule.name === name) ?? (name === SKILL_TOOL ? SKILL_LIMITS : NO_RULES),
    explain,
  };
}

/** Whether the output is asked for by the service's own means: as the task says, else as the provider is known. */
function takesSchemas({ model, server_tools }: TaskConfig): boolean {
  const { response_format, provider, platform, tool_protocol } = model;
  // Calls in free text need replies that no schema binds; and the service documents no schema beside the citations of searches.
  const ofTheApi = provider === 'anthropic' && platform === undefined;
  return response_format ?? (ofTheApi && tool_protocol === 'native' && server_tools === undefined);
}
