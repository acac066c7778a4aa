import { createChatClient } from '../../src/model/openai.ts';
import { modelConfig, testClock } from './setup.ts';
import type { ModelClient } from '../../src/core/ports.ts';
import type { Setup } from './setup.ts';

export const CHAT_KEY = 'sk-chat-not-a-real-key-0123456789';

/** A client of the endpoint at `base_url` with its key; no jitter, ten minutes left, waits are jumped over. */
export function chat(base_url: string, { config = {}, deps = {} }: Setup = {}): ModelClient {
  return createChatClient(modelConfig({ provider: 'openai', id: 'test-chat', base_url, ...config }), {
    env: { OPENAI_API_KEY: 'sk-for-openai-alone-0123456789' },
    clock: testClock(),
    random: () => 0,
    idle_timeout_ms: 5_000,
    max_retries: 2,
    deadline: () => 600_000,
    redact: (text) => text,
    ...deps,
  });
}
