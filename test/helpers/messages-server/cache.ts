import { createHash } from 'node:crypto';
import { canonicalText, memberOf, stringOf } from './json-text.ts';
import type { JsonNode } from './json-text.ts';
import type { CanonicalBlock, CanonicalRequest } from './canonical.ts';
import type { UsageSpec } from './types.ts';

type Ttl = '5m' | '1h';

const TTL_MS: Record<Ttl, number> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };
const LOOKBACK = 20;
const BYTES_PER_TOKEN = 4;
const DEFAULT_MINIMUM = 512;

/** A block's place in the prompt: the digest and the tokens of everything up to and including it. */
interface Position {
  digest: string;
  tokens: number;
  ttl: Ttl | undefined;
}

interface Entry {
  expires_at: number;
  ttl: Ttl;
}

/** What a request costs, and `commit` to call when the response begins: only then can others read what it wrote. */
export interface CacheLookup {
  usage: UsageSpec;
  commit: () => void;
}

export interface PromptCache {
  lookup: (body: JsonNode, request: CanonicalRequest) => CacheLookup;
}

/** A cache like the service's: entries at marks, a lookback of 20 blocks, a minimum size, two lifetimes. */
export function promptCache(now: () => number, minimum = DEFAULT_MINIMUM): PromptCache {
  const entries = new Map<string, Entry>();
  return {
    lookup(body, request) {
      const positions = positionsOf(body, request);
      const at = now();
      const read = longestRead(positions, entries, at);
      const readTokens = read === undefined ? 0 : (positions[read]?.tokens ?? 0);
      const written = positions.filter((position, index) => {
        return position.ttl !== undefined && index > (read ?? -1) && position.tokens >= minimum;
      });
      const commit = (): void => {
        for (const { digest, ttl = '5m' } of written) entries.set(digest, { ttl, expires_at: at + TTL_MS[ttl] });
        const hit = entries.get(positions[read ?? -1]?.digest ?? '');
        if (hit !== undefined) hit.expires_at = at + TTL_MS[hit.ttl];
      };
      return { usage: usageOf(positions, readTokens, written), commit };
    },
  };
}

/** Tokens of the whole prompt: a quarter of its bytes. */
export function promptTokens(body: JsonNode, request: CanonicalRequest): number {
  return positionsOf(body, request).at(-1)?.tokens ?? 0;
}

function usageOf(positions: Position[], read: number, written: Position[]): UsageSpec {
  const created: Record<Ttl, number> = { '5m': 0, '1h': 0 };
  let reached = read;
  for (const { tokens, ttl = '5m' } of written) {
    created[ttl] += tokens - reached;
    reached = tokens;
  }
  return {
    input_tokens: (positions.at(-1)?.tokens ?? 0) - reached,
    cache_creation_input_tokens: created['5m'] + created['1h'],
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: created['5m'], ephemeral_1h_input_tokens: created['1h'] },
  };
}

// From each mark the service looks at the block itself and at the 20 before it.
function longestRead(positions: Position[], entries: Map<string, Entry>, now: number): number | undefined {
  for (let mark = positions.length - 1; mark >= 0; mark -= 1) {
    if (positions[mark]?.ttl === undefined) continue;
    for (let at = mark; at >= Math.max(0, mark - LOOKBACK); at -= 1) {
      const entry = entries.get(positions[at]?.digest ?? '');
      if (entry !== undefined && entry.expires_at > now) return at;
    }
  }
  return undefined;
}

function positionsOf(body: JsonNode, request: CanonicalRequest): Position[] {
  const messages = request.messages.flatMap(({ role, blocks }) => blocks.map((block) => ({ block, role })));
  const automatic = automaticMark(
    body,
    messages.map(({ block }) => block),
  );
  const positions: Position[] = [];
  let digest = stringOf(body, 'model') ?? '';
  let bytes = 0;
  const add = (block: CanonicalBlock, role: string): void => {
    digest = createHash('sha256').update(`${digest}\n${role}\n${block.text}`).digest('hex');
    bytes += Buffer.byteLength(block.text);
    const explicit = block.mark === undefined ? undefined : ttlOfNode(block.mark);
    const ttl = explicit ?? (block === automatic?.block ? automatic.ttl : undefined);
    positions.push({ digest, tokens: Math.ceil(bytes / BYTES_PER_TOKEN), ttl });
  };
  for (const block of request.tools) add(block, 'tools');
  for (const block of request.system) add(block, 'system');
  digest += settings(body);
  for (const { block, role } of messages) add(block, role);
  return positions;
}

// Changing one of these costs the cached messages, but not tools and system.
function settings(body: JsonNode): string {
  return ['tool_choice', 'thinking', 'output_config']
    .map((key) => memberOf(body, key))
    .map((node) => (node === undefined ? '' : canonicalText(node)))
    .join('\n');
}

function automaticMark(body: JsonNode, blocks: CanonicalBlock[]): { block: CanonicalBlock; ttl: Ttl } | undefined {
  const mark = memberOf(body, 'cache_control');
  const block = blocks.findLast(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  return mark?.kind === 'object' && block !== undefined ? { block, ttl: ttlOfNode(mark) } : undefined;
}

function ttlOfNode(mark: JsonNode): Ttl {
  return stringOf(mark, 'ttl') === '1h' ? '1h' : '5m';
}
