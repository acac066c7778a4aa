import { headOf } from '../core/graphemes.ts';
import type { ModelFailure } from '../core/events.ts';
import type { Usage } from '../core/usage.ts';
import type { StreamFault } from './reply-reader.ts';

/** One attempt that did not become a reply. */
export interface AttemptFailure {
  kind: Exclude<ModelFailure['kind'], 'budget'>;
  message: string;
  status?: number;
  error_type?: string;
  request_id?: string;
  /** Trying again may help. */
  retry: boolean;
  /** What was refused has been renewed: the next attempt is no repetition, and counts as none. */
  renewed?: true;
  /** Milliseconds the service asked us to wait. */
  retry_after_ms?: number;
  /** What the attempt is billed, or may be; absent: nothing. */
  usage?: Usage;
}

/** Who answered, for messages. */
export interface Service {
  provider: string;
  base_url: string;
  model: string;
}

/** An error the service put into words: an HTTP status, or an error event after status 200. */
export interface ServiceError extends StreamFault {
  status?: number;
  request_id?: string;
  headers?: HeaderReader;
}

/** Headers of any make. */
export type HeaderReader = Pick<Headers, 'get'>;

/** The headers that an SDK's error carries, if it does: of the answer, and so of the class our fetch gave it. */
export function headersOf({ headers }: { headers: unknown }): { headers?: HeaderReader } {
  const known = typeof headers === 'object' && headers !== null && 'get' in headers;
  return known ? { headers: headers as HeaderReader } : {};
}

const TRANSIENT_STATUS = new Set([408, 409, 429]);
const TRANSIENT_TYPE = new Set([
  'overloaded_error',
  'api_error',
  'timeout_error',
  'rate_limit_error',
  // Ours, for replies that are none.
  'malformed_stream',
  'truncated_stream',
  // Those of chat completions endpoints.
  'rate_limit_exceeded',
  'server_error',
  'internal_error',
  'internal_server_error',
  'InternalServerError',
  'service_unavailable',
  'overloaded',
  'timeout',
  'insufficient_system_resource',
]);
// Waiting does not bring the money or the account back, whatever the status says.
const FINAL_CODES = new Set([
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'organization_on_hold',
  'insufficient_quota',
  'billing_hard_limit_reached',
]);
const TOO_LONG_CODE = 'context_length_exceeded';
const TOO_LONG =
  /prompt is too long|exceeds? (?:the )?(?:available )?context (?:limit|window|length|size)|context window|maximum context length/i;
const MAX_QUOTE = 500;

/** Sorts an error by what it means for the run: its kind, whether to try again, and when. */
export function judgeError(error: ServiceError, service: Service, now_ms: number): AttemptFailure {
  const { status, type, request_id, headers } = error;
  const after = headers && retryAfterMs(headers, now_ms);
  return {
    kind: kindOf(error),
    message: describe(error, service),
    ...(status === undefined ? {} : { status }),
    error_type: type,
    ...(request_id === undefined ? {} : { request_id }),
    retry: mayHelp(error),
    ...(after === undefined ? {} : { retry_after_ms: after }),
  };
}

/** Milliseconds that `retry-after-ms` or `retry-after` (seconds or an HTTP date) ask for; undefined when neither is readable. */
export function retryAfterMs(headers: HeaderReader, now_ms: number): number | undefined {
  const ms = headers.get('retry-after-ms')?.trim();
  if (ms && Number.isFinite(Number(ms))) return Math.max(0, Number(ms));
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now_ms);
}

/** The service's own words in one line, cut where a page stands in their place. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_QUOTE ? `${headOf(line, MAX_QUOTE)}…` : line;
}

function kindOf({ status, type, message, code }: ServiceError): AttemptFailure['kind'] {
  if (status === 401 || status === 403 || type === 'authentication_error' || type === 'permission_error')
    return 'auth_error';
  if (code === TOO_LONG_CODE) return 'context_exhausted';
  if (status === 429 || type === 'rate_limit_error' || type === 'rate_limit_exceeded') return 'rate_limited';
  const isRequest = status === 400 || status === 413 || type === 'invalid_request_error';
  return isRequest && TOO_LONG.test(message) ? 'context_exhausted' : 'api_error';
}

function mayHelp({ status, type, code, headers }: ServiceError): boolean {
  if (code !== undefined && FINAL_CODES.has(code)) return false;
  const told = headers?.get('x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  if (status === undefined) return TRANSIENT_TYPE.has(type);
  return TRANSIENT_STATUS.has(status) || status >= 500;
}

function describe({ status, type, message }: ServiceError, { provider, base_url, model }: Service): string {
  const answer = status === undefined ? type : `${status} ${type}`;
  if (status === 404 || type === 'not_found_error') {
    return `${provider} at ${base_url} does not serve the model "${model}" (${answer}): ${quote(message)}; check model.id and model.base_url`;
  }
  return `${provider} at ${base_url} answered ${answer} for ${model}: ${quote(message)}`;
}
