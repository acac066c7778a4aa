import type { PageNames } from './page-template.ts';

/** What a comment's template sees of the run. */
export const RUN_NAMES = [
  'task',
  'status',
  'exit_reason',
  'exit_code',
  'message',
  'limit_reached',
  'turns',
  'input_tokens',
  'output_tokens',
  'cost',
  'duration',
  'model',
  'url',
  'commit',
] as const;
export type RunName = (typeof RUN_NAMES)[number];

/** The names of a comment's template; below `output` they are those of the task's schema. */
export const COMMENT_NAMES: PageNames = {
  run: RUN_NAMES,
  output: null,
  findings: null,
  denials: null,
  verify: null,
  gate: null,
  warnings: null,
  inputs: null,
};
