import type { RunConfig } from '../core/config.ts';

const WRITERS: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'bash']);

/** Without a tool or command that may write, nothing changes in the workspace and its tree need not be recorded. */
export function canChangeFiles({ task }: RunConfig): boolean {
  return (
    task.verify.length > 0 ||
    (task.mcp_servers ?? []).length > 0 ||
    task.tools.some(({ name }) => WRITERS.has(name)) ||
    task.custom_tools.some(({ effect }) => effect === 'write')
  );
}
