import { isBlankText } from './blocks.ts';
import { blocksOf, messagesOf } from './check-messages.ts';
import { isRecord, shown } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Violation } from './types.ts';

const MAX_MARKS = 4;

/** A cache mark and the block it sits on, in the order the service reads them. */
interface Mark {
  path: string;
  block: JsonRecord;
  value: unknown;
}

/** Checks the number, shape, place and order of cache_control marks. */
export function* checkCacheControl(body: JsonRecord): Generator<Violation> {
  const blocks = markableBlocks(body);
  const marks = blocks.filter((block) => block.value !== undefined && block.value !== null);
  const automatic = body['cache_control'];
  const hasAutomatic = automatic !== undefined && automatic !== null;
  const count = marks.length + (hasAutomatic ? 1 : 0);
  if (count > MAX_MARKS) yield refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
  for (const mark of marks) yield* checkMark(mark);
  if (hasAutomatic) yield* checkShape(automatic, 'cache_control');
  const ttls = [...marks.map((mark) => ttlOf(mark.value)), ...(hasAutomatic ? [ttlOf(automatic)] : [])];
  if (ttls.lastIndexOf('1h') > ttls.indexOf('5m') && ttls.includes('5m')) {
    yield refuse("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block");
  }
  const last = blocks.at(-1)?.value;
  if (hasAutomatic && isRecord(last) && ttlOf(last) !== ttlOf(automatic)) {
    yield refuse('cache_control: the last block already has cache_control with another ttl');
  }
}

export function ttlOf(mark: unknown): '5m' | '1h' {
  return isRecord(mark) && mark['ttl'] === '1h' ? '1h' : '5m';
}

function* checkMark({ path, block, value }: Mark): Generator<Violation> {
  yield* checkShape(value, `${path}.cache_control`);
  if (isBlankText(block)) yield refuse(`${path}.text.cache_control: cache_control cannot be set for empty text blocks`);
  const type = shown(block['type']);
  if (type === 'thinking' || type === 'redacted_thinking') {
    yield refuse(`${path}.${type}.cache_control: Extra inputs are not permitted`);
  }
}

function* checkShape(value: unknown, path: string): Generator<Violation> {
  const ttl = isRecord(value) ? value['ttl'] : undefined;
  const known = ttl === undefined || ttl === '5m' || ttl === '1h';
  const extra = isRecord(value) ? Object.keys(value).filter((key) => key !== 'type' && key !== 'ttl') : [];
  if (!isRecord(value) || value['type'] !== 'ephemeral') yield refuse(`${path}.type: Input should be 'ephemeral'`);
  else if (!known) yield refuse(`${path}.ephemeral.ttl: Input should be '5m' or '1h'`);
  else if (extra.length > 0) yield refuse(`${path}.ephemeral.${shown(extra[0])}: Extra inputs are not permitted`);
}

function markableBlocks(body: JsonRecord): Mark[] {
  const named = (blocks: JsonRecord[], path: string): Mark[] =>
    blocks.flatMap((block, index) => {
      const at = `${path}.${index}`;
      const inner =
        block['type'] === 'tool_result' ? named(blocksOf(block['content']), `${at}.tool_result.content`) : [];
      return [...inner, { path: at, block, value: block['cache_control'] }];
    });
  return [
    ...named(blocksOf(body['tools']), 'tools'),
    ...named(blocksOf(body['system']), 'system'),
    ...messagesOf(body).flatMap((message, index) => named(message.content, `messages.${index}.content`)),
  ];
}

function refuse(message: string): Violation {
  return { rule: 'cache_control', message };
}
