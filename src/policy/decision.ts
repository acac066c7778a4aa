import type { Files, Plan } from '../core/ports.ts';
import type { Guards } from './protected.ts';
import type { CompiledRules } from './rules.ts';

/** The rules of a task with what they are judged against. */
export interface PolicyParts {
  rules: CompiledRules;
  files: Files;
  guards: Guards;
}

/** A verdict before `on_denied` is looked at; `rule` as written in the task, after its tool's name. */
export type Decision = { ok: true; plan: Plan; rule: string } | { ok: false; reason: string; rule?: string };
