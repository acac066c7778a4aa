import { formatDuration } from '../core/measures.ts';
import type { Redact } from '../core/ports.ts';
import type { Usage } from '../core/usage.ts';
import { judgeError } from './failure.ts';
import type { AttemptFailure, Service } from './failure.ts';
import { cleanText } from './reply-blocks.ts';
import type { StreamFault } from './reply-reader.ts';
import type { TransportError } from './transport-error.ts';
import type { StopCause, Watch } from './watch.ts';

/** What is known of a reply that did not come whole. */
export interface PartialReply {
  /** The service began to reply. */
  readonly started: boolean;
  usageSoFar(): Usage;
}

/** The attempt that failed. */
export interface FailureContext {
  reader: PartialReply;
  watch: Watch;
  service: Service;
  idle_timeout_ms: number;
  now_ms: number;
  redact: Redact;
}

/** The failure of an answer that is no whole reply. */
export function streamFailure(
  fault: StreamFault & { status?: number },
  response: Response,
  context: FailureContext,
): AttemptFailure {
  const request_id = response.headers.get('request-id') ?? response.headers.get('x-request-id') ?? undefined;
  const message = cleanText(fault.message, context.redact);
  const error = { ...fault, message, headers: response.headers, ...(request_id === undefined ? {} : { request_id }) };
  const failure = judgeError(error, context.service, context.now_ms);
  // An error in place of a reply is not billed; a stream that breaks off is, or may be.
  const billed = context.reader.started || fault.type === 'truncated_stream';
  return billed ? { ...failure, usage: context.reader.usageSoFar() } : failure;
}

/** The failure of an attempt that we ended ourselves. */
export function stopFailure(cause: StopCause, { service, idle_timeout_ms }: FailureContext): AttemptFailure {
  const name = `${service.provider} at ${service.base_url}`;
  if (cause === 'aborted') return { kind: 'aborted', message: `stopped while ${name} replied`, retry: false };
  if (cause === 'deadline')
    return { kind: 'deadline', message: `the time was over while ${name} replied`, retry: false };
  const message = `${name} sent nothing for ${formatDuration(idle_timeout_ms)}`;
  return { kind: 'api_error', error_type: 'idle_timeout', message, retry: true };
}

/** The failure of a connection that broke, or never stood. */
export function connectionFailure(error: TransportError, { service, reader }: FailureContext): AttemptFailure {
  const code = error.code === '' ? '' : ` (${error.code})`;
  return {
    kind: 'api_error',
    error_type: 'connection_error',
    message: `${service.provider} at ${service.base_url}: ${error.message}${code}`,
    retry: !error.final,
    ...(error.unsent ? {} : { usage: reader.usageSoFar() }),
  };
}
