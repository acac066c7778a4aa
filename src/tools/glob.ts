import type { Files, Tool } from '../core/ports.ts';
import { TOO_MANY } from './list-folder.ts';
import { cutResult, errorResult, textField, textResult } from './result.ts';
import { callSignal, findFiles } from './search.ts';

const DEFINITION = {
  name: 'glob',
  description:
    'Lists files whose path below "path" (default: the workspace) matches a glob such as **/*.ts; what .gitignore names is left out.',
  input_schema: {
    type: 'object',
    properties: { pattern: { type: 'string' }, path: { type: 'string' } },
    required: ['pattern'],
    additionalProperties: false,
  },
};

/** Finds files by name. */
export function createGlob(files: Files): Tool {
  return {
    definition: DEFINITION,
    async execute(call, plan, context) {
      if (plan.kind === 'file') return errorResult(`${plan.path} is no folder; give a folder as "path"`);
      if (plan.kind !== 'search') throw new Error(`glob cannot run a plan of kind ${plan.kind}`);
      const pattern = textField(call.input, 'pattern') ?? '';
      const found = await findFiles(files, plan, pattern, callSignal(context));
      if (!found.ok) return textResult(found.status, found.text);
      const text = found.paths.join('\n') || `no file matches ${JSON.stringify(pattern)}`;
      return cutResult('ok', found.more ? `${text}\n${TOO_MANY}` : text, context);
    },
  };
}
