import type { ModelConfig } from '../core/config.ts';
import type { ModelClient } from '../core/ports.ts';
import type { AnthropicDeps } from './anthropic.ts';
import { withFallback } from './fallback.ts';
import type { ScriptPlace } from './script-check.ts';

export type ModelDeps = AnthropicDeps & { script_place?: ScriptPlace };

/** The client of a task's model with its fallbacks; loads only what the provider needs. Throws UsageError. */
export async function createModelClient(config: ModelConfig, deps: ModelDeps): Promise<ModelClient> {
  const first = await createOne(config, deps);
  const others: ModelClient[] = [];
  for (const fallback of config.fallback) others.push(await createModelClient(fallback, deps));
  return others.length === 0 ? first : withFallback([first, ...others]);
}

async function createOne(config: ModelConfig, deps: ModelDeps): Promise<ModelClient> {
  switch (config.provider) {
    case 'anthropic': {
      const { createAnthropicClient } = await import('./anthropic.ts');
      return createAnthropicClient(config, deps);
    }
    case 'script': {
      const { createScriptClient } = await import('./scripted.ts');
      return createScriptClient(config, deps);
    }
    case 'replay': {
      const { createRecordedClient } = await import('./replay.ts');
      return createRecordedClient(config, deps.clock.now());
    }
    case 'openai': {
      const { createChatClient } = await import('./openai.ts');
      return createChatClient(config, deps);
    }
  }
}
