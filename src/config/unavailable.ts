// Parts of the format that this version does not carry out yet. Ignoring them in silence would make a run look better
// than it was, so a task that uses one is refused.

import type { Issue } from './issues.ts';
import type { TaskFile } from './task-file.ts';

/** One issue for each capability that the task uses and this version lacks. */
export function unavailableIssues(task: TaskFile): Issue[] {
  const used: [pointer: string, used: boolean, what: string][] = [
    ['/skills', (task.skills ?? []).length > 0, 'skills'],
  ];
  return used
    .filter(([, isUsed]) => isUsed)
    .map(([pointer, , what]) => ({ pointer, at: 'key', message: `${what} are not available in this version` }));
}
