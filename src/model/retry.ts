import { formatDuration } from '../core/measures.ts';
import type { Clock, ModelReply, Random, SendHooks, SendResult } from '../core/ports.ts';
import { costUsd } from '../core/usage.ts';
import type { Prices } from '../core/usage.ts';
import type { AttemptFailure } from './failure.ts';

export interface RetryDeps {
  clock: Clock;
  random: Random;
  /** Attempts after the first. */
  max_retries: number;
  /** Milliseconds that are left; waiting never goes beyond. */
  deadline: () => number;
}

/** A failed attempt that handed out calls says so, for they belong to no reply. */
export type AttemptResult = { ok: true; reply: ModelReply } | { ok: false; failure: AttemptFailure; offered: boolean };

export interface Attempts {
  model: string;
  prices: Prices | null;
  /** One request to the service; never throws for what the service or the network does. */
  attempt: () => Promise<AttemptResult>;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const JITTER = 0.25;

/** Sends until a reply comes, trying again does not help, or no attempt, time or budget is left. */
export async function sendWithRetries(
  { model, prices, attempt }: Attempts,
  deps: RetryDeps,
  hooks: SendHooks,
  signal: AbortSignal,
): Promise<SendResult> {
  const max_attempts = deps.max_retries + 1;
  for (let number = 1; ; number += 1) {
    const stop = stopped(deps, signal);
    if (stop) return stop;
    const result = await attempt();
    if (result.ok) return { ok: true, ...result.reply };
    if (result.offered) hooks.onDiscard();
    const { failure } = result;
    const next = whatNext(failure, number, deps);
    hooks.onAttempt({
      attempt: number,
      max_attempts,
      model,
      ...reported(failure),
      ...('wait_ms' in next ? { wait_ms: next.wait_ms } : {}),
      ...(failure.usage ? { usage: failure.usage, cost_usd: costUsd(failure.usage, prices) } : {}),
    });
    if ('result' in next) return next.result;
    const hit = hooks.admit();
    if (hit)
      return { ok: false, kind: 'budget', message: `no further attempt fits the budget; ${failure.message}`, hit };
    await deps.clock.sleep(next.wait_ms, signal);
  }
}

function stopped({ deadline }: RetryDeps, signal: AbortSignal): SendResult | undefined {
  if (signal.aborted) return { ok: false, kind: 'aborted', message: 'the run was stopped' };
  if (deadline() <= 0) return { ok: false, kind: 'deadline', message: 'no time is left for a request' };
  return undefined;
}

type Next = { wait_ms: number } | { result: SendResult };

function whatNext(failure: AttemptFailure, number: number, deps: RetryDeps): Next {
  if (!failure.retry) return { result: failed(failure) };
  if (failure.renewed) return { wait_ms: 0 };
  if (number > deps.max_retries) {
    const tries = number === 1 ? 'retries are off' : `gave up after ${number} attempts`;
    return { result: failed({ ...failure, message: `${failure.message} (${tries})` }) };
  }
  const left = deps.deadline();
  const { retry_after_ms } = failure;
  if (retry_after_ms !== undefined) {
    const wait_ms = Math.ceil(retry_after_ms);
    if (wait_ms < left) return { wait_ms };
    const wish = `it asked to wait ${formatDuration(wait_ms)}, and ${formatDuration(wholeSeconds(left))} are left`;
    return { result: failed({ ...failure, message: `${failure.message} (${wish})` }) };
  }
  const wait_ms = backoffMs(number, deps.random);
  if (wait_ms < left) return { wait_ms };
  const message = `no time is left for another attempt; the last one: ${failure.message}`;
  return { result: { ok: false, kind: 'deadline', message } };
}

/** Doubles from half a second to half a minute, with up to a quarter taken off so that parallel jobs spread. */
function backoffMs(number: number, random: Random): number {
  return Math.round(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (number - 1)) * (1 - JITTER * random()));
}

function wholeSeconds(ms: number): number {
  return ms < 1000 ? Math.max(0, Math.floor(ms)) : Math.floor(ms / 1000) * 1000;
}

/** What a record of a failed attempt says of its failure. */
export function reported({ message, status, error_type, request_id }: AttemptFailure) {
  return {
    message,
    ...(status === undefined ? {} : { status }),
    ...(error_type === undefined ? {} : { error_type }),
    ...(request_id === undefined ? {} : { request_id }),
  };
}

function failed({ kind, message, status, request_id }: AttemptFailure): SendResult {
  if (kind === 'aborted' || kind === 'deadline') return { ok: false, kind, message };
  const facts = { ...(status === undefined ? {} : { status }), ...(request_id === undefined ? {} : { request_id }) };
  return { ok: false, kind, message, ...facts };
}
