import { streamBlock, wholeBlock } from './blocks.ts';
import type { JsonRecord } from './json-text.ts';
import type { BlockSpec, MessageSpec, Point, UsageSpec } from './types.ts';

// What usage shows in message_start but not in message_delta.
const START_ONLY = ['cache_creation', 'inference_geo', 'service_tier', 'speed'];

/** One SSE event and the points of the reply that are reached once it is sent. */
export interface Frame {
  event: string;
  data: JsonRecord;
  points: Point[];
}

/** A message spec with everything the script left open filled in. */
export interface FilledMessage {
  spec: MessageSpec;
  id: string;
  model: string;
  content: BlockSpec[];
  stop_reason: string;
  usage: UsageSpec;
}

/** All events of a reply, in order. */
export function messageFrames(message: FilledMessage): Frame[] {
  const frames: Frame[] = [
    { event: 'message_start', data: { type: 'message_start', message: startOf(message) }, points: ['message_start'] },
    ...(message.spec.pings === false ? [] : [ping()]),
    ...message.content.flatMap((block, index) => blockFrames(block, index, message.spec.delta_size)),
    { event: 'message_delta', data: messageDelta(message), points: ['message_delta'] },
    { event: 'message_stop', data: { type: 'message_stop' }, points: ['message_stop'] },
  ];
  addPoints(frames);
  return message.spec.pings === true
    ? frames.flatMap((frame) => (frame.event === 'ping' ? [frame] : [frame, ping()]))
    : frames;
}

/** The message object of a reply that is not streamed. */
export function wholeMessage(message: FilledMessage): JsonRecord {
  const stop = stopOf(message);
  return { ...startOf(message), content: message.content.map(wholeBlock), ...stop, usage: fullUsage(message.usage) };
}

function startOf(message: FilledMessage): JsonRecord {
  const { spec } = message;
  return {
    id: message.id,
    type: 'message',
    role: 'assistant',
    model: message.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: spec.diagnostics ?? null,
    usage: { ...fullUsage(message.usage), output_tokens: 1, output_tokens_details: null, ...spec.start_usage },
    ...spec.extra,
  };
}

function fullUsage(usage: UsageSpec): JsonRecord {
  return {
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    inference_geo: 'global',
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
    ...usage,
  };
}

function stopOf(message: FilledMessage): JsonRecord {
  const { stop_sequence = null, stop_details = null } = message.spec;
  return { container: null, stop_reason: message.stop_reason, stop_sequence, stop_details };
}

function messageDelta(message: FilledMessage): JsonRecord {
  const shown = Object.entries(fullUsage(message.usage)).filter(([key]) => !START_ONLY.includes(key));
  const usage = Object.fromEntries(shown);
  return { type: 'message_delta', delta: stopOf(message), usage };
}

function blockFrames(block: BlockSpec, index: number, size: number | undefined): Frame[] {
  const { start, deltas } = streamBlock(block, size);
  return [
    { event: 'content_block_start', data: { type: 'content_block_start', index, content_block: start }, points: [] },
    ...deltas.map((delta): Frame => {
      return { event: 'content_block_delta', data: { type: 'content_block_delta', index, delta }, points: [] };
    }),
    { event: 'content_block_stop', data: { type: 'content_block_stop', index }, points: [`block_stop:${index}`] },
  ];
}

function ping(): Frame {
  return { event: 'ping', data: { type: 'ping' }, points: [] };
}

function addPoints(frames: Frame[]): void {
  const counted = frames.filter((frame) => frame.event !== 'ping');
  counted.forEach((frame, index) => frame.points.push(`event:${index + 1}`));
  frames.find((frame) => frame.event === 'content_block_delta' && !isEmptyDelta(frame))?.points.push('delta');
  frames.find((frame) => frame.event === 'content_block_stop')?.points.push('block_stop');
  const last = frames.findLast((frame) => frame.event !== 'message_delta' && frame.event !== 'message_stop');
  last?.points.push('content');
}

function isEmptyDelta(frame: Frame): boolean {
  return JSON.stringify(frame.data['delta']).includes('"partial_json":""');
}
