import { APIConnectionError, APIError } from 'openai/error';
import { isJsonObject } from '../core/json.ts';
import { connectionFailure, stopFailure } from './attempt-failure.ts';
import type { FailureContext } from './attempt-failure.ts';
import { headersOf, judgeError } from './failure.ts';
import type { AttemptFailure } from './failure.ts';
import { chatFault } from './openai-fault.ts';
import { cleanText } from './reply-blocks.ts';
import { TransportError } from './transport-error.ts';

/** The failure behind what the SDK or the connection threw; anything else is a bug and is thrown again. */
export function chatFailure(error: unknown, context: FailureContext): AttemptFailure {
  const cause = context.watch.cause();
  if (cause) return { ...stopFailure(cause, context), usage: context.reader.usageSoFar() };
  if (isAnswer(error)) return statusFailure(error, context);
  const transport = error instanceof APIConnectionError ? error.cause : error;
  if (transport instanceof TransportError) return connectionFailure(transport, context);
  throw error;
}

function isAnswer(error: unknown): error is APIError {
  return error instanceof APIError && typeof error.status === 'number';
}

// `error.error` is the whole body here, see ChatSdk.
function statusFailure(error: APIError, { service, now_ms, redact }: FailureContext): AttemptFailure {
  const body: unknown = error.error;
  const page = error.message.replace(/^\d+ /, '');
  const { type, message, code } = isJsonObject(body) ? chatFault(body) : { type: 'http_error', message: page };
  const told = {
    status: Number(error.status),
    type: type === 'unknown_error' ? 'http_error' : type,
    message: cleanText(message, redact),
    ...headersOf(error),
    ...(code === undefined ? {} : { code }),
    ...(error.requestID ? { request_id: error.requestID } : {}),
  };
  return judgeError(told, service, now_ms);
}
