// The inputs that exist. The runner hands over a misspelt one with no more than a warning, and the step would run without it.

import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Env } from '../config/merge.ts';

export const INPUT_NAMES = [
  'task',
  'inputs',
  'anthropic-api-key',
  'api-key',
  'federation-rule-id',
  'organization-id',
  'service-account-id',
  'workspace-id',
  'model',
  'workspace',
  'out',
  'task-ref',
  'max-turns',
  'max-cost-usd',
  'timeout',
  'sandbox',
  'github-token',
  'comment',
  'comment-key',
  'allowed-associations',
  'annotations',
  'summary',
  'fail-on',
  'args',
] as const;

const PREFIX = 'INPUT_';

/** Throws UsageError for an input that the step gives and the action does not have. */
export function checkInputNames(env: Env): void {
  const given = Object.keys(env).filter((name) => name.startsWith(PREFIX));
  for (const variable of given) {
    const name = variable.slice(PREFIX.length).toLowerCase();
    if (INPUT_NAMES.some((known) => known === name)) continue;
    const meant = didYouMean(name, INPUT_NAMES);
    throw new UsageError(
      `the input ${JSON.stringify(name)} does not exist${meant}; take it out of the step's "with" (or ${variable} out of its environment)`,
    );
  }
}
