import { keepNothing } from './output-store.ts';
import { stringifyJson } from '../core/json.ts';
import { factsFor, pricesOf, unknownModel } from '../model/pricing.ts';
import { listen } from './interrupts.ts';
import { UsageError } from '../core/errors.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { buildParts, redactorFor } from './parts.ts';
import { buildStart } from './start.ts';
import { promptBlocks } from '../agent/prompt.ts';
import type { Limits, ModelConfig, RunConfig, TaskConfig } from '../core/config.ts';
import type { RunStart, SandboxState } from '../core/events.ts';
import type { ModelClient } from '../core/ports.ts';
import { USD_A_SEARCH } from '../core/usage.ts';
import type { Prices } from '../core/usage.ts';
import type { PartsOptions } from './parts.ts';
import type { Env } from './place.ts';

/** What a run of this task would do, as far as can be told without a model. */
export interface PlanReport {
  task: string;
  model: string;
  workspace: string;
  untrusted: boolean;
  sandbox: SandboxState;
  tools: string[];
  output: RunStart['output_mode'];
  context: { label: string; bytes: number; omitted_bytes: number }[];
  /** Set when the run would end at once, because a context is empty. */
  skip: string | null;
  limits: Limits;
  /** Bytes of system, tools and first message over four. */
  first_request_tokens: number;
  /** The most the limits let a run cost; null when they or the prices do not say. */
  worst_case_cost_usd: number | null;
  /** What replaced prompts say with sample values; absent: none is replaced. */
  prompts?: Record<string, string>;
  warnings: string[];
}

/** Checks a task as a run would, without a key, a run folder or a request. Throws UsageError. */
export async function plan({
  config,
  env,
  cwd = process.cwd(),
}: {
  config: RunConfig;
  env: Env;
  cwd?: string;
}): Promise<PlanReport> {
  const interrupts = listen();
  const model = offlineClient(config.task.model);
  const options: PartsOptions = {
    config,
    env,
    cwd,
    clock: SYSTEM_CLOCK,
    random: Math.random,
    interrupts,
    model,
    redactor: redactorFor(config.task, env),
    keepOutput: keepNothing,
    readStored: async () => ({ ok: false, reason: 'a dry run stores nothing' }),
  };
  try {
    const built = await buildParts(options);
    const begun = await buildStart(options, built).finally(() => built.dispose());
    if (!begun) throw new UsageError('the check was cut by a signal before the context was read; check the task again');
    return report(config, { ...begun, prices: model.prices, prompts: built.prompts.replaced });
  } finally {
    interrupts.dispose();
  }
}

interface Facts {
  start: RunStart;
  warnings: string[];
  prices: Prices | null;
  prompts: Readonly<Record<string, string>>;
}

function report(config: RunConfig, { start, warnings, prices, prompts }: Facts): PlanReport {
  const { task } = config;
  const request = stringifyJson({ system: start.system, tools: start.tools, content: promptBlocks(start, 0) });
  return {
    task: task.name,
    model: `${task.model.provider}/${task.model.id}`,
    workspace: start.workspace,
    untrusted: config.untrusted,
    sandbox: start.runner.sandbox,
    tools: [...start.tools, ...(task.server_tools ?? [])].map((tool) => tool.name),
    output: start.output_mode,
    context: start.context.map(({ label, bytes, omitted_bytes }) => ({ label, bytes, omitted_bytes })),
    skip: start.skip ?? null,
    limits: task.limits,
    first_request_tokens: Math.ceil(Buffer.byteLength(request) / 4),
    worst_case_cost_usd: worstCost(task, prices),
    ...(Object.keys(prompts).length === 0 ? {} : { prompts: { ...prompts } }),
    warnings: [...warnings, ...[task.model, ...task.model.fallback].flatMap((one) => unknownModel(one) ?? [])],
  };
}

/** Every token at the dearest price it can have and every search; what the cost limit lets pass when that is lower. */
function worstCost({ limits, server_tools = [] }: TaskConfig, prices: Prices | null): number | null {
  if (!prices) return limits.max_cost_usd;
  const dearest = [prices, ...(prices.above ? [prices.above] : [])];
  const input = Math.max(...dearest.flatMap((tier) => [tier.input, tier.cache_write, tier.cache_write_1h ?? 0]));
  const output = Math.max(...dearest.map((tier) => tier.output));
  const { max_input_tokens: inputs, max_output_tokens: outputs, max_total_tokens: total, max_cost_usd } = limits;
  const searching = (server_tools.find(({ name }) => name === 'web_search')?.max_uses ?? 0) * USD_A_SEARCH;
  const requests = limits.max_turns === null ? Infinity : limits.max_turns * (limits.max_retries + 1);
  const searches = searching === 0 ? 0 : requests * searching;
  const bounds = [
    max_cost_usd === null ? null : max_cost_usd + searching, // the limit is checked between requests
    inputs === null || outputs === null ? null : (inputs * input + outputs * output) / 1e6 + searches,
    total === null ? null : (total * Math.max(input, output)) / 1e6 + searches,
  ].filter((bound): bound is number => bound !== null && Number.isFinite(bound));
  return bounds.length === 0 ? null : Math.min(...bounds);
}

/** Knows what the tables say of a model and can ask nothing. */
function offlineClient(config: ModelConfig): ModelClient {
  const facts = factsFor(config.provider, config.id);
  return {
    id: config.id,
    ...pricesOf(config, SYSTEM_CLOCK.now()),
    max_output_tokens: facts?.max_output_tokens ?? null,
    context_tokens: facts?.context_tokens ?? null,
    send: async () => ({ ok: false, kind: 'api_error', message: 'a dry run asks no model' }),
  };
}
