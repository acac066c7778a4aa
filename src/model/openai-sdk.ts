import { Console } from 'node:console';
import { OpenAI } from 'openai/client';
import { APIError } from 'openai/error';
import { checkCustomHeaders } from './credentials.ts';
import { createHttpFetch } from './http-fetch.ts';
import type { Fetch } from './http-fetch.ts';
import type { Access } from './openai-access.ts';
import type { Env } from './proxy.ts';

/** Errors keep the whole body: endpoints put their words in many places, and the SDK reads one. */
class ChatSdk extends OpenAI {
  protected override makeStatusError(
    status: number,
    error: object,
    message: string | undefined,
    headers: Headers,
  ): APIError {
    return new APIError(status, error, message, headers);
  }
}

/** The SDK for one endpoint. What it would take from the environment by itself is turned off. */
export function createChatSdk(access: Access, env: Env): OpenAI {
  checkCustomHeaders(process.env, 'OPENAI_CUSTOM_HEADERS');
  return new ChatSdk({
    // Without a key it does not start; `onlyOurs` decides what is sent.
    apiKey: access.key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: access.base.href,
    maxRetries: 0,
    fetch: onlyOurs(createHttpFetch(access.base, env), access.key),
    // Its default logger writes to stdout, and its debug level whole prompts.
    logger: new Console(process.stderr, process.stderr),
    logLevel: 'warn',
  });
}

/** The SDK reads headers from OPENAI_CUSTOM_HEADERS, whoever they are meant for: only these are sent. */
function onlyOurs(fetch: Fetch, key: string | undefined): Fetch {
  return (input, init = {}) => {
    const given = new Headers(init.headers);
    const headers = new Headers({ accept: 'text/event-stream', 'content-type': 'application/json' });
    headers.set('user-agent', given.get('user-agent') ?? 'agent-run');
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
}
