import { APIConnectionError, APIError } from '@anthropic-ai/sdk/error';
import { formatDuration } from '../core/measures.ts';
import type { Redact } from '../core/ports.ts';
import { judgeError } from './failure.ts';
import type { AttemptFailure, Service } from './failure.ts';
import { cleanText } from './reply-blocks.ts';
import type { ReplyReader, StreamFault } from './reply-reader.ts';
import { TransportError } from './transport-error.ts';
import type { StopCause, Watch } from './watch.ts';

/** The attempt that failed. */
export interface FailureContext {
  reader: ReplyReader;
  watch: Watch;
  service: Service;
  idle_timeout_ms: number;
  now_ms: number;
  redact: Redact;
}

/** The failure of an answer that is no whole reply. */
export function streamFailure(fault: StreamFault, response: Response, context: FailureContext): AttemptFailure {
  const request_id = response.headers.get('request-id') ?? undefined;
  const message = cleanText(fault.message, context.redact);
  const error = { ...fault, message, headers: response.headers, ...(request_id === undefined ? {} : { request_id }) };
  const failure = judgeError(error, context.service, context.now_ms);
  // An error in place of a reply is not billed; a stream that breaks off is, or may be.
  const billed = context.reader.started || fault.type === 'truncated_stream';
  return billed ? { ...failure, usage: context.reader.usageSoFar() } : failure;
}

/** The failure behind what the SDK or the connection threw; anything else is a bug and is thrown again. */
export function attemptFailure(error: unknown, context: FailureContext): AttemptFailure {
  const { watch, service, now_ms, redact } = context;
  const cause = watch.cause();
  if (cause) return { ...stopFailure(cause, context), usage: context.reader.usageSoFar() };
  if (error instanceof APIError && typeof error.status === 'number') {
    const headers = error.headers instanceof Headers ? error.headers : new Headers();
    const told = {
      status: error.status,
      type: error.type ?? 'http_error',
      message: cleanText(error.apiMessage ?? error.message.replace(/^\d+ /, ''), redact),
      headers,
      ...(error.errorCode === null ? {} : { code: error.errorCode }),
      ...(error.requestID ? { request_id: error.requestID } : {}),
    };
    return judgeError(told, service, now_ms);
  }
  const transport = error instanceof APIConnectionError ? error.cause : error;
  if (transport instanceof TransportError) return connectionFailure(transport, context);
  throw error;
}

function stopFailure(cause: StopCause, { service, idle_timeout_ms }: FailureContext): AttemptFailure {
  const name = `${service.provider} at ${service.base_url}`;
  if (cause === 'aborted') return { kind: 'aborted', message: `stopped while ${name} replied`, retry: false };
  if (cause === 'deadline')
    return { kind: 'deadline', message: `the time was over while ${name} replied`, retry: false };
  const message = `${name} sent nothing for ${formatDuration(idle_timeout_ms)}`;
  return { kind: 'api_error', error_type: 'idle_timeout', message, retry: true };
}

function connectionFailure(error: TransportError, { service, reader }: FailureContext): AttemptFailure {
  const code = error.code === '' ? '' : ` (${error.code})`;
  return {
    kind: 'api_error',
    error_type: 'connection_error',
    message: `${service.provider} at ${service.base_url}: ${error.message}${code}`,
    retry: !error.final,
    ...(error.unsent ? {} : { usage: reader.usageSoFar() }),
  };
}
