// Tool rules with their defaults: the allowlist, in the order of the task.

import type { CallLimits, FileToolName, SandboxConfig, ToolRules, VerifyCommand } from '../core/config.ts';
import { type Building, interpolateArguments } from './building.ts';
import { durationMs, sizeBytes } from './limits.ts';
import type { CallFields, TaskFile, ToolFields } from './task-file.ts';

const MAX_OUTPUT = '30KiB';
const GIT_COMMANDS = ['log', 'diff', 'show', 'blame', 'status'];
const FILE_TOOLS: readonly FileToolName[] = ['read_file', 'glob', 'grep', 'write_file', 'edit_file'];

export function buildTools(fields: ToolFields): ToolRules[] {
  const rules = FILE_TOOLS.flatMap((name): ToolRules[] => {
    const field = fields[name];
    if (field === undefined) return [];
    const { paths, ...call } = field === true ? {} : field;
    return [{ name, ...(paths === undefined ? {} : { paths }), ...callLimits(call) }];
  });
  if (fields.bash) {
    const { allow, deny = [], ...call } = fields.bash;
    rules.push({ name: 'bash', allow, deny, ...callLimits(call) });
  }
  if (fields.git) {
    const { allow = GIT_COMMANDS, ...call } = fields.git === true ? {} : fields.git;
    rules.push({ name: 'git', allow, ...callLimits(call) });
  }
  const order = Object.keys(fields);
  return rules.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

/** Limits of a tool's calls with their defaults. */
export function callLimits(fields: CallFields): CallLimits {
  return {
    ...(fields.timeout === undefined ? {} : { timeout_ms: durationMs(fields.timeout) }),
    max_output_bytes: sizeBytes(fields.max_output ?? MAX_OUTPUT),
    ...(fields.max_calls === undefined ? {} : { max_calls: fields.max_calls }),
    on_denied: fields.on_denied ?? 'continue',
  };
}

export function buildSandbox(fields: TaskFile['sandbox']): SandboxConfig {
  return {
    mode: 'auto',
    network: false,
    env: [],
    read: [],
    write: ['.'],
    git_write: false,
    allow_untrusted: false,
    ...fields,
  };
}

export async function buildVerify(building: Building): Promise<VerifyCommand[]> {
  const commands: VerifyCommand[] = [];
  for (const [index, fields] of (building.task.verify ?? []).entries()) {
    commands.push({
      run: await interpolateArguments(building, fields.run, `/verify/${index}/run`),
      ...(fields.timeout === undefined ? {} : { timeout_ms: durationMs(fields.timeout) }),
      attempts: fields.attempts ?? 2,
    });
  }
  return commands;
}
