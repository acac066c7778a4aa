import { fillAll, type Fixture } from './fixture.ts';
import type { ScriptTurn } from '../../../src/core/config.ts';
import type { SecurityCase } from './cases.ts';

const NAMES: Readonly<Record<string, string>> = { read: 'read_file', write: 'write_file', edit: 'edit_file' };
const FIELDS: Readonly<Record<string, string>> = { content: 'file_text', old: 'old_str', new: 'new_str' };

export interface Call {
  name: string;
  /** Exactly as a model would send it. */
  input_json: string;
}

/** The call of a case, in our tools' words. */
export function callOf({ tool, input }: SecurityCase, fixture: Fixture): Call {
  if (tool === 'tool-input') {
    const { tool: name, inputText } = fillAll(fixture, input);
    return { name: nameOf(String(name)), input_json: String(inputText) };
  }
  const fields = Object.entries(fillAll(fixture, input)).map(([key, value]) => [FIELDS[key] ?? key, value]);
  return { name: nameOf(tool), input_json: JSON.stringify(Object.fromEntries(fields)) };
}

function nameOf(tool: string): string {
  return NAMES[tool] ?? tool;
}

/** The tools of a task that a case's policy stands for. */
export function toolsOf({ policy }: SecurityCase): Record<string, unknown> {
  const reads = policy.read ? { paths: policy.read } : {};
  const writes = policy.write ? { write_file: { paths: policy.write }, edit_file: { paths: policy.write } } : {};
  const timeout = policy.timeoutMs === undefined ? {} : { timeout: `${policy.timeoutMs}ms` };
  const bash = policy.bash
    ? { bash: { allow: policy.bash, ...(policy.deny && { deny: policy.deny }), ...timeout } }
    : {};
  return { read_file: reads, glob: reads, grep: reads, ...writes, ...bash, git: {} };
}

/** The whole task: the case's call, one more that only shows that the run goes on, and a last word. */
export function taskOf(one: SecurityCase, turns: readonly ScriptTurn[]): Record<string, unknown> {
  const { sandbox = 'default', env, gitWrite } = one.policy;
  return {
    version: 1,
    name: 'case',
    prompt: 'Do it.',
    model: { provider: 'script', id: 'script', script: { turns } },
    tools: toolsOf(one),
    sandbox: {
      mode: sandbox === 'default' ? 'auto' : sandbox,
      ...(env && { env }),
      ...(gitWrite !== undefined && { git_write: gitWrite }),
    },
  };
}

export function turnsFor(call: Call): ScriptTurn[] {
  return [
    { tool_use: [{ ...call, id: 'toolu_case' }] },
    { tool_use: [{ name: 'read_file', input: { path: 'README.md' }, id: 'toolu_after' }] },
    { text: 'done' },
  ];
}
