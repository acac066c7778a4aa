import { isRecord } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { MessagesServer } from './types.ts';

/** A well-formed request; tests change one thing in it. */
export function request(changes: JsonRecord = {}): JsonRecord {
  const messages = [{ role: 'user', content: 'Hello' }];
  return { model: 'claude-sonnet-5-5', max_tokens: 1000, stream: true, messages, ...changes };
}

/** Posts a body (a text or bytes go out as they are) with the right headers, unless told otherwise. */
export async function post(
  server: MessagesServer,
  body: JsonRecord | string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string | null> = {},
  path = '/v1/messages',
): Promise<Response> {
  const all = {
    authorization: 'Bearer test-key',
    'anthropic-version': '2026-10-21',
    'content-type': 'application/json',
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return fetch(server.url + path, { method: 'POST', headers: Object.fromEntries(given), body: raw });
}

export interface SseEvent {
  event: string;
  data: JsonRecord;
}

/** Reads a stream to its end and splits it into events; throws what fetch throws when the socket breaks. */
export async function readEvents(response: Response): Promise<SseEvent[]> {
  return parseEvents(await response.text());
}

/** Splits whole SSE text into events. */
export function parseEvents(text: string): SseEvent[] {
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [first = '', second = ''] = part.split('\n');
      const data: unknown = JSON.parse(second.replace(/^data: /, ''));
      return { event: first.replace(/^event: /, ''), data: isRecord(data) ? data : {} };
    });
}

/** The names of events, without pings. */
export function eventNames(events: SseEvent[]): string[] {
  return events.map(({ event }) => event).filter((event) => event !== 'ping');
}

/** All text of one kind of delta, joined. */
export function joined(events: SseEvent[], type: string, field: string): string {
  return events
    .map(({ data }) => data['delta'])
    .filter(isRecord)
    .filter((delta) => delta['type'] === type)
    .map((delta) => String(delta[field]))
    .join('');
}

/** `error.type` and `error.message` of an error body. */
export async function readError(response: Response): Promise<{ type: string; message: string; request_id: unknown }> {
  const body: unknown = await response.json();
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  return {
    type: String(error['type']),
    message: String(error['message']),
    request_id: isRecord(body) ? body['request_id'] : undefined,
  };
}
