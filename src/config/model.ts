// The model of a task: both written forms, defaults, prices, the script.

import type { ModelConfig, ProviderName, ScriptConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Prices } from '../core/usage.ts';
import { type Building, parseNamed, readNamed } from './building.ts';
import { issuesError, showValue } from './issues.ts';
import { buildRecording } from './recording.ts';
import { scriptIssues } from './script.ts';
import type { ModelFields, PriceFields } from './task-file.ts';

const PROVIDERS: readonly ProviderName[] = ['anthropic', 'openai', 'script', 'replay'];
const MAX_TOKENS = 16_000;

/** The model with defaults; `id` of `--model` replaces only the id and drops the task's prices. */
export async function buildModel(building: Building, id: string | undefined): Promise<ModelConfig> {
  const fields = fieldsOf(building, building.task.model, '/model');
  const model = await oneModel(building, fields, '/model');
  const fallback: ModelConfig[] = [];
  for (const [index, written] of (fields.fallback ?? []).entries()) {
    const pointer = `/model/fallback/${index}`;
    fallback.push(await oneModel(building, fieldsOf(building, written, pointer), pointer));
  }
  const { prices: _prices, ...unpriced } = model;
  return id === undefined ? { ...model, fallback } : { ...unpriced, id: idFor(model.provider, id), fallback };
}

/** `--model` cannot change the provider: "openai/x" for a task of Anthropic would reach the wrong service. */
function idFor(provider: ProviderName, id: string): string {
  const [prefix = ''] = id.split('/', 1);
  const named = PROVIDERS.find((item) => item === prefix && id.includes('/'));
  if (named === undefined || provider === 'openai') return id; // gateways have ids like "openai/x" of their own
  if (named === provider) return id.slice(prefix.length + 1);
  throw new UsageError(
    `--model: found ${showValue(id)}, expected an id of the task's provider "${provider}"; change model.provider in the task`,
  );
}

/** "ID" is Anthropic's, "PROVIDER/ID" names its provider; an id may hold further slashes. */
function fieldsOf(building: Building, written: string | ModelFields, pointer: string): ModelFields {
  if (typeof written !== 'string') return written;
  const slash = written.indexOf('/');
  if (slash < 0) return { id: written };
  const name = written.slice(0, slash);
  const provider = PROVIDERS.find((item) => item === name);
  if (provider === undefined) {
    const list = PROVIDERS.map((item) => `"${item}"`).join(', ');
    const message = `found ${showValue(written)} with the unknown model provider ${showValue(name)}, expected one of ${list}${didYouMean(name, PROVIDERS)}`;
    building.issues.push({ pointer, message });
  } else if (provider === 'script' || provider === 'replay' || slash === written.length - 1) {
    building.issues.push({ pointer, message: `found ${showValue(written)}, expected ${shapeOf(provider)}` });
  }
  return { provider: provider ?? 'anthropic', id: written.slice(slash + 1) };
}

function shapeOf(provider: ProviderName): string {
  if (provider === 'script') return '{ "provider": "script", "script": FILE }';
  return provider === 'replay' ? '{ "provider": "replay", "replay": RUN_DIR }' : `"${provider}/ID"`;
}

async function oneModel(building: Building, fields: ModelFields, pointer: string): Promise<ModelConfig> {
  const provider = fields.provider ?? 'anthropic';
  const script =
    fields.script === undefined ? undefined : await buildScript(building, fields.script, `${pointer}/script`);
  const replay = provider === 'replay' ? await buildRecording(building, fields.replay, pointer) : undefined;
  return {
    provider,
    id: fields.id ?? provider,
    max_tokens: fields.max_tokens ?? MAX_TOKENS,
    ...asWritten(fields),
    tool_protocol: fields.tool_protocol ?? 'native',
    fallback: [],
    ...(fields.prices === undefined ? {} : { prices: buildPrices(fields.prices) }),
    ...(script === undefined ? {} : { script }),
    ...(replay === undefined ? {} : { replay }),
  };
}

const AS_WRITTEN = [
  'context_tokens',
  'claude_api',
  'images',
  'response_format',
  'effort',
  'thinking_display',
  'platform',
  'region',
  'base_url',
  'api_key_env',
] as const;

/** Fields without a default, absent where the task has none. */
function asWritten(fields: ModelFields): Partial<Pick<ModelConfig, (typeof AS_WRITTEN)[number]>> {
  return Object.fromEntries(AS_WRITTEN.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

/** A cache price that is not given counts as the input price, so that cost is never understated by leaving it out. */
function buildPrices(fields: PriceFields): Prices {
  const { input, output, cache_write = input, cache_read = input, cache_write_1h } = fields;
  return { input, output, cache_write, cache_read, ...(cache_write_1h === undefined ? {} : { cache_write_1h }) };
}

async function buildScript(
  building: Building,
  written: NonNullable<ModelFields['script']>,
  pointer: string,
): Promise<ScriptConfig | undefined> {
  if (typeof written !== 'string') {
    building.issues.push(...scriptIssues(written, pointer));
    return written as unknown as ScriptConfig; // checked by scriptIssues; a task with issues is refused
  }
  const source = await readNamed(building, written, pointer);
  if (!source) return undefined;
  const value = await parseNamed(building, source, pointer);
  const issues = scriptIssues(value, '');
  if (issues.length > 0) throw await issuesError(source, issues);
  return value as unknown as ScriptConfig; // checked by scriptIssues
}
