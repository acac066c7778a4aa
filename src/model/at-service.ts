import type { ModelConfig } from '../core/config.ts';
import { CLAUDE_API, readBaseUrl } from './credentials.ts';
import type { Env } from './proxy.ts';

/**
 * The model with what only the place of the run decides: whether the Claude API itself answers. The task's own word
 * counts; else the base URL tells. Recorded with the task, so that a replay decides as the run did.
 */
export function atService(config: ModelConfig, env: Env): ModelConfig {
  const fallback = config.fallback.map((other) => atService(other, env));
  if (config.provider !== 'anthropic') return { ...config, fallback };
  return {
    ...config,
    fallback,
    claude_api: config.platform === undefined && (config.claude_api ?? leadsToClaude(config, env)),
  };
}

function leadsToClaude(config: ModelConfig, env: Env): boolean {
  try {
    return readBaseUrl(config, env).origin === CLAUDE_API;
  } catch {
    return false; // a UsageError, which is told when the client is made
  }
}
