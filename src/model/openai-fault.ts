import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { StreamFault } from './reply-reader.ts';

/** An error in an endpoint's words; `status` where it names one behind an HTTP status of success. */
export interface ChatFault extends StreamFault {
  status?: number;
}

const NO_MESSAGE = 'no message was given';
// These say more than the `type` beside them, which may be "tokens" or "requests".
const TELLING_CODES = new Set(['rate_limit_exceeded', 'server_error', 'internal_error', 'overloaded', 'timeout']);

/** True for a body or chunk that is an error in any of the usual forms. */
export function isFault(body: JsonObject): boolean {
  const { error, object, choices, detail } = body;
  if (error !== undefined && error !== null && error !== false && error !== '') return true;
  return object === 'error' || (choices === undefined && detail !== undefined);
}

/** The error in a body: an object or a text under `error`, `message` at the top, or `detail`. */
export function chatFault(body: JsonObject): ChatFault {
  const error = isJsonObject(body['error']) ? body['error'] : body;
  const { type, message, code } = error;
  const said = message ?? body['error'] ?? body['detail'];
  const text = typeof said === 'string' ? said : said === undefined || said === null ? '' : JSON.stringify(said);
  const word = typeof code === 'string' && code !== '' ? code : undefined;
  const status = statusOf(code);
  const telling = word !== undefined && TELLING_CODES.has(word) ? word : type;
  return {
    type: typeof telling === 'string' && telling !== '' ? telling : (word ?? 'unknown_error'),
    message: text === '' ? NO_MESSAGE : text,
    ...(word === undefined ? {} : { code: word }),
    ...(status === undefined ? {} : { status }),
  };
}

function statusOf(code: unknown): number | undefined {
  const number = typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : code;
  return typeof number === 'number' && number >= 400 && number <= 599 ? number : undefined;
}
