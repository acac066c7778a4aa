import type { APIError } from '@anthropic-ai/sdk/error';
import { connectionFailure, stopFailure } from './attempt-failure.ts';
import type { FailureContext } from './attempt-failure.ts';
import { FederationError } from './federation-error.ts';
import { headersOf, judgeError } from './failure.ts';
import type { AttemptFailure } from './failure.ts';
import { cleanText } from './reply-blocks.ts';
import { TransportError } from './transport-error.ts';

// What the clients of Bedrock and Vertex say when they cannot sign a request.
const NO_CREDENTIALS = /^Failed to (?:resolve AWS|acquire Google OAuth) credentials/;

// What the standard's Headers throws, with the value: the clients of the clouds put credentials into some.
const NO_HEADER = /is an invalid header (?:name|value)\.?$/;

/** The failure behind what the SDK or the connection threw; anything else is a bug and is thrown again. */
export function attemptFailure(error: unknown, context: FailureContext): AttemptFailure {
  const { watch, service, now_ms, redact } = context;
  const cause = watch.cause();
  if (cause) return { ...stopFailure(cause, context), usage: context.reader.usageSoFar() };
  if (error instanceof FederationError) return accessFailure(error, context);
  if (isAnswer(error)) {
    const told = {
      status: Number(error.status),
      type: error.type ?? 'http_error',
      message: cleanText(error.apiMessage ?? error.message.replace(/^\d+ /, ''), redact),
      ...headersOf(error),
      ...(error.errorCode === null ? {} : { code: error.errorCode }),
      ...(error.requestID ? { request_id: error.requestID } : {}),
    };
    return judgeError(told, service, now_ms);
  }
  const transport = error instanceof Error && error.cause instanceof TransportError ? error.cause : error;
  if (transport instanceof TransportError) return connectionFailure(transport, context);
  if (error instanceof Error && NO_CREDENTIALS.test(error.message)) return unsigned(error, context);
  if (error instanceof TypeError && NO_HEADER.test(error.message)) return unsendable();
  throw error;
}

// Told by its shape: a platform's client brings its own copy of the SDK, with classes of its own.
function isAnswer(error: unknown): error is APIError {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' && 'requestID' in error;
}

/** The cloud's chain of credentials gave none, so nothing was sent. */
function unsigned(error: Error, { redact }: FailureContext): AttemptFailure {
  const why = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const message = cleanText(`${error.message.replace(/\.$/, '')}${why}`, redact);
  return { kind: 'auth_error', error_type: 'no_credentials', message, retry: false };
}

function unsendable(): AttemptFailure {
  const message =
    'the credentials hold a line break or another character that no header has, so nothing was sent; set them again';
  return { kind: 'auth_error', error_type: 'no_credentials', message, retry: false };
}

/** No access token, so nothing was asked of the model. */
function accessFailure({ message, retry, status }: FederationError, { redact }: FailureContext): AttemptFailure {
  const told = { error_type: 'federation', message: cleanText(message, redact), retry };
  return { kind: 'auth_error', ...told, ...(status === undefined ? {} : { status }) };
}
