import { headOf } from '../core/graphemes.ts';
import { isJsonObject, type JsonValue, parseJson } from '../core/json.ts';

/** Why GitHub did not do what it was asked for. */
export interface ApiFailure {
  kind: 'unauthorised' | 'forbidden' | 'not_found' | 'invalid' | 'rate_limited' | 'unavailable' | 'unexpected';
  message: string;
  /** The request may have had its effect all the same. */
  uncertain: boolean;
}

export interface Refusal {
  status: number;
  headers: Headers;
  text: string;
  /** "PATCH /repos/o/r/issues/comments/1" */
  what: string;
  now_ms: number;
}

const SAID_CHARACTERS = 300;

/** What an answer outside 2xx means, and how long GitHub asks to wait. */
export function readFailure(refusal: Refusal): {
  ok: false;
  failure: ApiFailure;
  retry_after_ms: number | undefined;
} {
  const { status, what, text } = refusal;
  const kind = kindOf(refusal);
  const message = `${what}: ${[`GitHub answered ${status}`, said(text)].filter((part) => part !== '').join(', ')}${advice(kind)}`;
  return { ok: false, failure: { kind, message, uncertain: status >= 500 }, retry_after_ms: retryAfter(refusal) };
}

function kindOf({ status, headers, text }: Refusal): ApiFailure['kind'] {
  if (status === 429 || (status === 403 && isLimit(headers, text))) return 'rate_limited';
  if (status === 401) return 'unauthorised';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 422 || status === 400) return 'invalid';
  return status >= 500 ? 'unavailable' : 'unexpected';
}

/** The primary limit says so in its headers; the secondary one by `retry-after` or in words only. */
function isLimit(headers: Headers, text: string): boolean {
  return (
    headers.get('x-ratelimit-remaining') === '0' ||
    headers.has('retry-after') ||
    /secondary rate limit|abuse detection/i.test(text)
  );
}

function retryAfter({ headers, now_ms }: Refusal): number | undefined {
  const seconds = headers.get('retry-after');
  if (seconds !== null && /^\d+$/.test(seconds)) return Number(seconds) * 1000;
  const reset = headers.get('x-ratelimit-reset');
  if (headers.get('x-ratelimit-remaining') !== '0' || reset === null || !/^\d+$/.test(reset)) return undefined;
  // The service's clock and ours differ by a little.
  return Math.max(0, Number(reset) * 1000 - now_ms) + 1000;
}

/** GitHub's own words: its message and what it says of single fields. */
function said(text: string): string {
  const parsed = parseJson(text);
  const body: JsonValue = parsed.ok ? parsed.value : null;
  if (!isJsonObject(body)) return '';
  const fields = Array.isArray(body['errors']) ? body['errors'] : [];
  const texts = [body['message'], ...fields.map((item) => (isJsonObject(item) ? item['message'] : item))];
  const words = texts.filter((item): item is string => typeof item === 'string').join(': ');
  return words === '' ? '' : JSON.stringify(headOf(words, SAID_CHARACTERS));
}

function advice(kind: ApiFailure['kind']): string {
  switch (kind) {
    case 'unauthorised':
      return '; give the input "github-token" a token that is valid, such as ${{ github.token }}';
    case 'forbidden':
      return '; the job needs `permissions: pull-requests: write` (`issues: write` for issues), and on pull requests from forks its token can only read: publish from a second job, see docs/github-action.md';
    case 'not_found':
      return '; either it does not exist or the token may not see it';
    default:
      return '';
  }
}
