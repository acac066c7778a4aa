// A stand-in for GitHub's identity tokens, the token endpoint and the door of the Messages API behind it. It refuses
// what the services would: a token used twice, an unknown field, a missing beta, ids of another rule.

import { randomBytes } from 'node:crypto';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exchangeViolation } from './check-exchange.ts';
import type { Fault, Rule, TokenServer, TokenServerOptions } from './types.ts';

export const REQUEST_TOKEN = 'eyJ0eXAiOiJKV1QifQ.cmVxdWVzdC10b2tlbi1vZi10aGUtam9i.c2lnbmF0dXJl';
const AUDIENCE = 'https://api.anthropic.com';
const RULE: Rule = { rule_id: 'fdrl_01', organization_id: 'org-01', subject: 'repo:octo/repo:ref:refs/heads/main' };

interface State {
  options: TokenServerOptions;
  rule: Rule;
  server: Omit<TokenServer, 'url' | 'env' | 'close'>;
  exchanged: Set<string>;
  revoked: Set<string>;
  ends_ms: Map<string, number>;
  id_requests: number;
  exchanges: number;
}

/** Starts the stand-in on 127.0.0.1. */
export async function startTokenServer(options: TokenServerOptions = {}): Promise<TokenServer> {
  const state = startState(options);
  const server = createServer((request, response) => void serve(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const { rule } = state;
  return {
    ...state.server,
    url,
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/id-token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_FEDERATION_RULE_ID: rule.rule_id,
      ANTHROPIC_ORGANIZATION_ID: rule.organization_id,
      ...(rule.service_account_id === undefined ? {} : { ANTHROPIC_SERVICE_ACCOUNT_ID: rule.service_account_id }),
      ...(rule.workspace_id === undefined ? {} : { ANTHROPIC_WORKSPACE_ID: rule.workspace_id }),
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function startState(options: TokenServerOptions): State {
  const rule = { ...RULE, ...options.rule };
  const revoked = new Set<string>();
  const identity: string[] = [];
  const issue = (): string => {
    const token = identityToken(rule.subject, options.skew_s ?? 0);
    identity.push(token);
    return token;
  };
  const revoke = (token: string): void => void revoked.add(token);
  const server = { issue, identity, access: [], used: [], refusals: [], revoke };
  return { options, rule, server, revoked, exchanged: new Set(), ends_ms: new Map(), id_requests: 0, exchanges: 0 };
}

function identityToken(sub: string, skew_s: number): string {
  const now = Math.floor(Date.now() / 1000) + skew_s;
  const claims = { iss: 'https://token.actions.githubusercontent.com', sub, aud: AUDIENCE, nbf: now, exp: now + 300 };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jti = randomBytes(12).toString('hex');
  return `${part({ typ: 'JWT', alg: 'RS256' })}.${part({ ...claims, jti })}.${randomBytes(24).toString('base64url')}`;
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '', 'http://localhost');
  if (path.pathname === '/id-token') return giveIdentity(state, path, { request, response });
  if (path.pathname === '/v1/oauth/token') return exchange(state, request, response);
  passOn(state, request, response);
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
}

function giveIdentity(state: State, { searchParams }: URL, { request, response }: Call): void {
  const fault = state.options.faults?.id?.[state.id_requests++];
  if (fault) return fail(response, fault);
  const wrong =
    request.method !== 'GET'
      ? 'not a GET'
      : request.headers.authorization !== `Bearer ${REQUEST_TOKEN}`
        ? 'wrong bearer'
        : searchParams.get('audience') === AUDIENCE && searchParams.get('api-version') === '2.0'
          ? undefined
          : 'wrong query';
  if (wrong !== undefined) return refuse(state, response, { status: 401, error: 'unauthorized', text: wrong });
  send(response, 200, { count: 1, value: state.server.issue() });
}

async function exchange(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk)); // without an encoding these are buffers
  const number = state.exchanges++;
  const fault = state.options.faults?.exchange?.[number];
  if (fault) return fail(response, fault);
  const { rule, exchanged, options, server, ends_ms } = state;
  const known = server.identity;
  const text = Buffer.concat(chunks).toString('utf8');
  const violation = exchangeViolation({ request, text, rule, known, exchanged });
  if (violation) return refuse(state, response, violation);
  const access_token = `sk-ant-oat01-${randomBytes(24).toString('base64url')}`;
  const lives = options.expires_in ?? [600];
  const expires_in = lives[Math.min(number, lives.length - 1)] ?? 600;
  server.access.push(access_token);
  ends_ms.set(access_token, Date.now() + expires_in * 1000);
  send(response, 200, { access_token, token_type: 'Bearer', expires_in });
}

/** A request of the Messages API goes on when its token lives and the beta for tokens is named. */
function passOn(state: State, request: IncomingMessage, response: ServerResponse): void {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  state.server.used.push(token);
  const lives = (state.ends_ms.get(token) ?? 0) > Date.now() && !state.revoked.has(token);
  const beta = String(request.headers['anthropic-beta']).split(',').includes('oauth-2025-04-20');
  if (!lives || !beta) {
    state.server.refusals.push(lives ? 'no beta for tokens' : 'token');
    request.resume();
    const error = { type: 'authentication_error', message: lives ? 'OAuth is not supported' : 'Invalid bearer token' };
    return send(response, 401, { type: 'error', error, request_id: 'req_token' });
  }
  const target = new URL(request.url ?? '', state.options.upstream);
  const { upstream_key: key } = state.options;
  const headers = { ...request.headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  const outgoing = forward(target, { method: request.method ?? 'GET', headers }, (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.headers);
    incoming.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  request.pipe(outgoing);
}

function refuse(
  state: State,
  response: ServerResponse,
  { status, error, text }: { status: number; error: string; text: string },
): void {
  state.server.refusals.push(text);
  send(response, status, { error, error_description: text });
}

function fail(response: ServerResponse, fault: Exclude<Fault, null>): void {
  if (fault === 'reset') return void response.destroy();
  response.writeHead(fault.status, { 'content-type': 'application/json' });
  response.end(fault.body);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_token' });
  response.end(JSON.stringify(body));
}
