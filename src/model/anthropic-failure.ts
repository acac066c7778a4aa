import { APIConnectionError, APIError } from '@anthropic-ai/sdk/error';
import { connectionFailure, stopFailure } from './attempt-failure.ts';
import type { FailureContext } from './attempt-failure.ts';
import { FederationError } from './federation-error.ts';
import { headersOf, judgeError } from './failure.ts';
import type { AttemptFailure } from './failure.ts';
import { cleanText } from './reply-blocks.ts';
import { TransportError } from './transport-error.ts';

/** The failure behind what the SDK or the connection threw; anything else is a bug and is thrown again. */
export function attemptFailure(error: unknown, context: FailureContext): AttemptFailure {
  const { watch, service, now_ms, redact } = context;
  const cause = watch.cause();
  if (cause) return { ...stopFailure(cause, context), usage: context.reader.usageSoFar() };
  if (error instanceof FederationError) return accessFailure(error, context);
  if (error instanceof APIError && typeof error.status === 'number') {
    const told = {
      status: error.status,
      type: error.type ?? 'http_error',
      message: cleanText(error.apiMessage ?? error.message.replace(/^\d+ /, ''), redact),
      ...headersOf(error),
      ...(error.errorCode === null ? {} : { code: error.errorCode }),
      ...(error.requestID ? { request_id: error.requestID } : {}),
    };
    return judgeError(told, service, now_ms);
  }
  const transport = error instanceof APIConnectionError ? error.cause : error;
  if (transport instanceof TransportError) return connectionFailure(transport, context);
  throw error;
}

/** No access token, so nothing was asked of the model. */
function accessFailure({ message, retry, status }: FederationError, { redact }: FailureContext): AttemptFailure {
  const told = { error_type: 'federation', message: cleanText(message, redact), retry };
  return { kind: 'auth_error', ...told, ...(status === undefined ? {} : { status }) };
}
