import { COMPACT_BETA } from './check-compaction.ts';
import type { JsonRecord } from './json-text.ts';
import type { ModelFacts } from './types.ts';

const ADAPTIVE = ['adaptive'];
const BIG = { max_input_tokens: 1_000_000, max_tokens: 128_000 };
const SMALL = { max_input_tokens: 200_000, max_tokens: 64_000 };

// As documented; models that are newer than the list do without.
const COMPACTS = /^claude-(?:(?:fable|mythos)-5(?:-1)?|opus-(?:4-[678]|5(?:-5)?)|sonnet-(?:4-6|5(?:-5)?))$/;

function facts(
  size: typeof BIG,
  thinking: readonly string[],
  system_messages: boolean,
): Omit<ModelFacts, 'compaction'> {
  return { ...size, thinking, system_messages };
}

const MODELS: Record<string, Omit<ModelFacts, 'compaction'>> = {
  'claude-fable-5-2': facts(BIG, ADAPTIVE, true),
  'claude-mythos-5-2': facts(BIG, ADAPTIVE, true),
  'claude-fable-5-1': facts(BIG, ADAPTIVE, true),
  'claude-mythos-5-1': facts(BIG, ADAPTIVE, true),
  'claude-fable-5': facts(BIG, ADAPTIVE, true),
  'claude-mythos-5': facts(BIG, ADAPTIVE, true),
  'claude-opus-5-5': facts(BIG, ADAPTIVE, true),
  'claude-sonnet-5-5': facts(BIG, ['adaptive', 'between_tools'], true),
  'claude-haiku-5-5': facts(BIG, ['adaptive', 'disabled'], true),
  'claude-opus-5': facts(BIG, ['adaptive', 'disabled'], true),
  'claude-sonnet-5': facts(BIG, ['adaptive', 'disabled'], false),
  'claude-opus-4-8': facts(BIG, ['adaptive', 'disabled'], true),
  'claude-opus-4-7': facts(BIG, ['adaptive', 'disabled'], false),
  'claude-opus-4-6': facts(BIG, ['adaptive', 'disabled', 'enabled'], false),
  'claude-sonnet-4-6': facts(BIG, ['adaptive', 'disabled', 'enabled'], false),
  'claude-opus-4-5': facts(SMALL, ['disabled', 'enabled'], false),
  'claude-haiku-4-5': facts(SMALL, ['disabled', 'enabled'], false),
};

/** Limits and features of a model; undefined when the service does not know the id. */
export function modelFacts(id: string, more: Record<string, Partial<ModelFacts>> = {}): ModelFacts | undefined {
  const undated = id.replace(/-\d{8}$/, '');
  const known = MODELS[undated];
  const given = more[id];
  if (known === undefined && given === undefined) return undefined;
  return { ...(known ?? facts(BIG, ADAPTIVE, true)), compaction: COMPACTS.test(undated), ...given };
}

/** The answer of GET /v1/models/ID; what is behind a beta header shows only with it. */
export function modelInfo(id: string, model: ModelFacts, betas: string[]): JsonRecord {
  const line = /haiku|sonnet|opus|fable|mythos/.exec(id)?.[0] ?? null;
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-01-01T00:00:00Z',
    line,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: model.max_input_tokens,
    max_tokens: model.max_tokens,
    capabilities: { ...capabilities(model), ...(betas.includes(COMPACT_BETA) ? compaction(model) : {}) },
  };
}

function compaction({ compaction: supported }: ModelFacts): JsonRecord {
  return { compaction: { supported, summarize: { supported } } };
}

function capabilities(model: ModelFacts): JsonRecord {
  const yes = { supported: true };
  const types = ['adaptive', 'between_tools', 'disabled', 'enabled'];
  const thinking = Object.fromEntries(types.map((type) => [type, { supported: model.thinking.includes(type) }]));
  return {
    batch: yes,
    citations: yes,
    code_execution: yes,
    context_management: {
      supported: true,
      clear_thinking_20251015: yes,
      clear_tool_uses_20250919: yes,
      compact_20260112: yes,
    },
    effort: { supported: true, low: yes, medium: yes, high: yes, xhigh: yes, max: yes },
    image_input: yes,
    pdf_input: yes,
    server_tools: { supported: true, code_execution: yes, web_search: yes },
    structured_outputs: yes,
    thinking: { supported: true, types: thinking },
  };
}
