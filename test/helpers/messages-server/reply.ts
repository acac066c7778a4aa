import type { JsonRecord } from './json-text.ts';
import type { BlockSpec, ErrorObject, Fault, Gate, HttpReply, MessageSpec, Pause, Point, Reply } from './types.ts';

type Options = Omit<MessageSpec, 'content'>;
type FaultSpec = MessageSpec & { after?: Point };

interface ErrorSpec {
  message?: string;
  headers?: Record<string, string>;
  /** Goes to `error.details.error_code`. */
  error_code?: string;
  /** An HTML page, or any text, instead of the JSON error. */
  html?: boolean;
  text?: string;
  pause?: Pause | Pause[];
}

/** A gate for `pause`: the reply waits there until `release()`. */
export function gate(): Gate {
  let arrive = (): void => {};
  let release = (): void => {};
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  return { reached, released, arrive: () => arrive(), release: () => release() };
}

/** Builders of everything the server can answer. */
export const reply = {
  /** A finished answer of one text block. */
  text: (text: string, options: Options = {}): Reply => message({ content: [{ type: 'text', text }], ...options }),

  /** One tool call. */
  tool: (name: string, input: JsonRecord, options: Options = {}): Reply => reply.tools([{ name, input }], options),

  /** Several tool calls in one turn; ids are made up where absent. */
  tools: (calls: JsonRecord[], options: Options = {}): Reply =>
    message({ content: calls.map((call) => ({ type: 'tool_use', ...call })), ...options }),

  /** The summary that a compaction request asks for; `usage` is what summing up costs. */
  summary: (content: string | null, options: Options = {}): Reply =>
    message({ content: [{ type: 'compaction', content }], stop_reason: 'compaction', ...options }),

  message,
  error,

  /** A gateway's HTML page. */
  html: (status = 502, headers: Record<string, string> = {}): Reply =>
    error(status, 'api_error', { html: true, headers }),

  /** An SSE error event after HTTP 200, by default as the first event. */
  sseError: (type: string, spec: FaultSpec & { message?: string; error_code?: string } = {}): Reply => {
    const { message: text, error_code, ...rest } = spec;
    const body = { type: 'error', error: errorObject(type, text, error_code) };
    return faulty({ after: 'head', ...rest }, { send: frame('error', body), finish: 'end' });
  },

  /** Ends cleanly without message_stop. */
  cut: (spec: FaultSpec = {}): Reply => faulty(spec, { finish: 'end' }),

  /** Destroys the socket; `after: 'request'` does so before the head. */
  reset: (spec: FaultSpec = {}): Reply => faulty(spec, { finish: 'reset' }),

  /** Sends up to a point, then keeps the connection open and silent until the client leaves. */
  stall: (spec: FaultSpec = {}): Reply => faulty(spec, { finish: 'stall' }),

  /** Puts a frame with cut JSON into an otherwise whole stream. */
  malformedFrame: (spec: FaultSpec = {}): Reply =>
    faulty(spec, {
      send: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"del\n\n',
      finish: 'continue',
    }),
};

/** One SSE frame as text. */
export function frame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The service's error object. */
export function errorObject(type: string, message = type, error_code?: string): ErrorObject {
  const details = error_code === undefined ? {} : { details: { error_code } };
  return { type, message, ...details };
}

function message(spec: MessageSpec): Reply {
  return { kind: 'message', message: spec };
}

function faulty(spec: FaultSpec, fault: Omit<Fault, 'after'>): Reply {
  const content: BlockSpec[] = [{ type: 'text', text: 'This answer will never be whole.' }];
  const { after = 'delta', ...rest } = spec;
  return { kind: 'message', message: { content, ...rest }, fault: { after, ...fault } };
}

function error(status: number, type: string, spec: ErrorSpec = {}): Reply {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>${status} Bad Gateway</h1></body></html>`;
  const text = spec.html === true ? page : spec.text;
  const contentType = spec.html === true ? 'text/html' : text === undefined ? 'application/json' : 'text/plain';
  const built: HttpReply = {
    kind: 'http',
    status,
    headers: { 'content-type': contentType, ...spec.headers },
    body: text ?? errorObject(type, spec.message, spec.error_code),
  };
  return spec.pause === undefined ? built : { ...built, pause: spec.pause };
}
