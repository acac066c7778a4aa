import type { AttemptFailure } from './failure.ts';

/** How an endpoint wants to be asked, where compatible endpoints differ. It is learned from what they refuse. */
export interface Dialect {
  max_tokens: 'max_tokens' | 'max_completion_tokens';
  /** Ask for usage in the last chunk. */
  stream_options: boolean;
  /** Offer strict copies of the tools. */
  strict: boolean;
  /** Ask for structured output; else the schema is told in words. */
  response_format: boolean;
  /** Send images; else words stand in their place. */
  images: boolean;
}

/** Some servers call what their model cannot see a fault of their own. */
const IMAGE_STATUSES = new Set([400, 404, 415, 422, 500, 501]);

/** The dialect to begin with: the provider's own service wants the newer name of the output limit. */
export function firstDialect(is_default: boolean): Dialect {
  return {
    max_tokens: is_default ? 'max_completion_tokens' : 'max_tokens',
    stream_options: true,
    strict: false,
    response_format: true,
    images: true,
  };
}

/** The dialect to ask again in after a refusal that names what it does not take; undefined when it names nothing of ours. */
export function nextDialect(dialect: Dialect, { status, message }: AttemptFailure): Dialect | undefined {
  if (dialect.images && IMAGE_STATUSES.has(status ?? 0) && /image|multi-?modal/i.test(message))
    return { ...dialect, images: false };
  if (status !== 400 && status !== 422) return undefined;
  if (dialect.stream_options && /stream_options|include_usage/.test(message))
    return { ...dialect, stream_options: false };
  if (dialect.response_format && /response_format/.test(message)) return { ...dialect, response_format: false };
  if (dialect.max_tokens === 'max_tokens' && /max_completion_tokens/.test(message))
    return { ...dialect, max_tokens: 'max_completion_tokens' };
  if (!dialect.strict && /\bstrict\b|additionalProperties/i.test(message)) return { ...dialect, strict: true };
  return undefined;
}
