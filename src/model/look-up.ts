import type { ModelConfig } from '../core/config.ts';
import { isJsonObject } from '../core/json.ts';
import type { Env } from './proxy.ts';
import { factsFor } from './pricing.ts';

export interface Asking {
  signal: AbortSignal;
  /** Hears of secrets that come up on the way, before they are used. */
  onSecret?: ((value: string) => void) | undefined;
}

/** The first request waits no longer for what is only good to know. */
const PATIENCE_MS = 3000;

/**
 * The model with the sizes that the Claude API tells of an id the shipped table does not know; any failure leaves them
 * unknown. Nothing is asked about known models, at other addresses, or where the task says the size itself.
 */
export async function lookUp(config: ModelConfig, env: Env, asking: Asking): Promise<ModelConfig> {
  const { provider, id, claude_api, context_tokens } = config;
  if (!claude_api || context_tokens !== undefined || factsFor(provider, id)) return config;
  const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const info = await modelInfo(config, env, { ...asking, signal });
  const most = size(info['max_tokens']);
  const window = size(info['max_input_tokens']);
  return {
    ...config,
    max_tokens: Math.min(config.max_tokens, most ?? Infinity),
    ...(window === undefined ? {} : { context_tokens: window }),
    ...(config.images === undefined && isBlind(info) ? { images: false } : {}),
  };
}

function isBlind({ capabilities }: Record<string, unknown>): boolean {
  const images = isJsonObject(capabilities) ? capabilities['image_input'] : undefined;
  return isJsonObject(images) && images['supported'] === false;
}

async function modelInfo(config: ModelConfig, env: Env, asking: Asking): Promise<Record<string, unknown>> {
  try {
    const { retrieveModel } = await import('./anthropic.ts');
    const info = await retrieveModel(config, env, asking);
    return isJsonObject(info) ? info : {};
  } catch {
    return {}; // no key, no answer, no such model: the first request tells what is wrong
  }
}

function size(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}
