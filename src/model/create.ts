import type { ModelConfig } from '../core/config.ts';
import type { ModelClient, ProtocolTexts } from '../core/ports.ts';
import type { AnthropicDeps } from './anthropic.ts';
import { withFallback } from './fallback.ts';
import { withXmlProtocol } from './xml-protocol.ts';
import type { ScriptPlace } from './script-check.ts';

export type ModelDeps = AnthropicDeps & {
  script_place?: ScriptPlace;
  /** What models with `tool_protocol: "xml"` are told; needed by them only. */
  protocol?: ProtocolTexts;
};

/** The client of a task's model with its fallbacks; loads only what the provider needs. Throws UsageError. */
export async function createModelClient(config: ModelConfig, deps: ModelDeps): Promise<ModelClient> {
  const first = withProtocol(config, await createOne(config, deps), deps);
  const others: ModelClient[] = [];
  for (const fallback of config.fallback) others.push(await createModelClient(fallback, deps));
  return others.length === 0 ? first : withFallback([first, ...others]);
}

/** A recorded run holds the calls as they were read then. */
function withProtocol({ provider, tool_protocol }: ModelConfig, client: ModelClient, deps: ModelDeps): ModelClient {
  if (tool_protocol !== 'xml' || provider === 'replay') return client;
  if (!deps.protocol) throw new Error('a model with tool_protocol "xml" needs the texts of the protocol');
  return withXmlProtocol(client, { ...deps, texts: deps.protocol });
}

async function createOne(config: ModelConfig, deps: ModelDeps): Promise<ModelClient> {
  switch (config.provider) {
    case 'anthropic': {
      const { createAnthropicClient } = await import('./anthropic.ts');
      if (config.platform === undefined) return createAnthropicClient(config, deps);
      const { connectPlatform } = await import('./platform.ts');
      return createAnthropicClient(config, deps, await connectPlatform(config, config.platform, deps.env));
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
