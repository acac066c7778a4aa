import type { ModelConfig } from '../core/config.ts';
import type { Env } from './place.ts';

const CLOUDS = { bedrock: "set AWS's credentials", vertex: "set Google's credentials" } as const;
const OPENAI_HOST = 'api.openai.com';

/** What to set right, as an imperative, when a service refuses what the run came with; undefined: nothing is known. */
export function credentialsAdvice(model: ModelConfig, env: Env): string | undefined {
  const { provider, platform, api_key_env, base_url } = model;
  if (api_key_env !== undefined) return `set ${api_key_env}`;
  if (platform !== undefined) return CLOUDS[platform];
  const has = (name: string): boolean => Boolean(env[name]?.trim());
  if (provider === 'openai') {
    // Its variable is for its own service: setting it would change nothing elsewhere.
    const own = base_url === undefined || (URL.canParse(base_url) && new URL(base_url).hostname === OPENAI_HOST);
    return own ? 'set OPENAI_API_KEY' : 'name the variable of its key in model.api_key_env';
  }
  if (provider !== 'anthropic') return undefined;
  // In the order in which the client looks for them.
  if (has('ANTHROPIC_API_KEY')) return 'set ANTHROPIC_API_KEY';
  if (has('ANTHROPIC_AUTH_TOKEN')) return 'set ANTHROPIC_AUTH_TOKEN';
  if (has('ANTHROPIC_FEDERATION_RULE_ID')) return 'check the rule that ANTHROPIC_FEDERATION_RULE_ID names';
  return 'set ANTHROPIC_API_KEY';
}
