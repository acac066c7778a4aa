// One MCP server: started or connected to, asked once for its tools, then only called.

import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { McpServerConfig } from '../core/config.ts';
import { errorText } from '../core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import { openHttp, type HttpParts } from './mcp-http.ts';
import { type Link, unavailable } from './mcp-link.ts';
import { type ProcessParts, startProcess } from './mcp-process.ts';

/** Time to start, where the task says none. */
const START_MS = 30_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 1000;
const SHOWN_REASON = 300;
/** The status of a server that does not know the session any more. */
const SESSION_FORGOTTEN = 404;

export interface ServerParts {
  /** How it is reached: by a command that is started, or at an address. */
  reach: { process: ProcessParts } | { http: HttpParts };
  /** Version of the runner. */
  version: string;
  signal: AbortSignal;
  notify: Notify;
}

/** Tells what everybody should know; false when nobody can be told yet, or any more. */
export type Notify = (code: string, message: string) => boolean;

/** A server that answers. */
export interface McpServer {
  /** Its tools as it listed them at the start; a list that changes later is not looked at. */
  list: readonly JsonObject[];
  request(method: string, params: JsonObject, limits: { signal: AbortSignal; timeout_ms: number }): Promise<JsonValue>;
  /** How it ended; undefined while it runs. */
  ended(): string | undefined;
  /** Where its stderr is kept, below the run folder; absent: it has none. */
  readonly log?: string;
  end(): Promise<void>;
  kill(): void;
}

/** The answer as it came; whoever asked looks at its shape. */
const ANY: StandardSchemaV1<unknown, JsonValue> = {
  // It came as JSON.
  '~standard': { version: 1, vendor: 'agent-run', validate: (value) => ({ value: value as JsonValue }) },
};

/** Starts a server and reads its list of tools; a UsageError (`mcp_unavailable`) when it cannot start or does not answer. */
export async function startMcpServer(config: McpServerConfig, parts: ServerParts): Promise<McpServer> {
  const told = new Set<string>();
  const { server, link, connect } = await openServer(config, parts, told);
  server.list = await firstList({ config, parts, server, connect }).catch(async (error: unknown) => {
    await server.end();
    throw unavailable(config.name, `${link.ended() ?? reasonOf(error)}${link.last()}`);
  });
  if (!('http' in parts.reach)) return server;
  return renewable(server, async ({ signal, timeout_ms }) => {
    const next = await openServer(config, parts, told);
    await next.connect({ signal, timeout: timeout_ms }).catch((error: unknown) => {
      next.server.kill();
      throw error;
    });
    return next.server;
  });
}

interface Opened extends Pick<Starting, 'connect'> {
  server: Ending;
  link: Link;
}

async function openServer(config: McpServerConfig, parts: ServerParts, told: Set<string>): Promise<Opened> {
  const { Client, StreamableHTTPClientTransport, deserializeMessage } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'agent-run', version: parts.version }, { capabilities: {} });
  const { reach, notify } = parts;
  const link =
    'http' in reach
      ? openHttp(reach.http, StreamableHTTPClientTransport)
      : await startProcess(config, reach.process, deserializeMessage);
  const server = createServer(client, link, 'http' in reach ? {} : { log: `outputs/mcp-${config.name}.stderr.txt` });
  const connect: Starting['connect'] = async (options) => {
    await client.connect(link.transport, options);
    watch(client, link, tellOnce({ name: config.name, notify, told, isEnding: () => server.isEnding() }));
  };
  return { server, link, connect };
}

/** A server at a URL may forget its session, as when it was started anew: it is greeted again, and the call made again. */
function renewable(
  first: Ending,
  reopen: (limits: { signal: AbortSignal; timeout_ms: number }) => Promise<Ending>,
): McpServer {
  let current = first;
  let renewing: Promise<void> | undefined;
  const renew = async (used: Ending, limits: Parameters<typeof reopen>[0]): Promise<void> => {
    const next = await reopen(limits);
    used.kill();
    current = next;
  };
  return {
    list: first.list,
    async request(method, params, limits) {
      const used = current;
      try {
        return await used.request(method, params, limits);
      } catch (error) {
        // It has not looked at a call that it answers so.
        if (!(error instanceof Error && 'status' in error && error.status === SESSION_FORGOTTEN)) throw error;
        if (current === used) {
          renewing ??= renew(used, limits).finally(() => {
            renewing = undefined;
          });
          await renewing;
        }
        return current.request(method, params, limits);
      }
    },
    ended: () => current.ended(),
    end: async () => current.end(),
    kill: () => current.kill(),
  };
}

interface Ending extends McpServer {
  /** The run has no more use for it. */
  isEnding(): boolean;
}

function createServer(client: Client, link: Link, more: Pick<McpServer, 'log'>): Ending {
  let ending = false;
  return {
    ...more,
    list: [],
    request: async (method, params, { signal, timeout_ms }) =>
      client.request({ method, params }, ANY, { signal, timeout: timeout_ms }),
    ended: () => link.ended(),
    isEnding: () => ending,
    async end() {
      ending = true;
      await link.end();
    },
    kill() {
      ending = true;
      link.kill();
    },
  };
}

type Tell = (code: string, what: string) => void;

/** Says the same of a server once. */
function tellOnce({
  name,
  notify,
  told,
  isEnding,
}: Pick<ServerParts, 'notify'> & { name: string; told: Set<string>; isEnding: () => boolean }): Tell {
  return (code, what) => {
    if (isEnding() || told.has(code)) return;
    if (notify(code, `the MCP server "${name}" ${what}`)) told.add(code);
  };
}

/** Says that a server is gone, and that it has changed its list of tools, which counts for nothing. */
function watch(client: Client, link: Link, tell: Tell): void {
  client.setNotificationHandler('notifications/tools/list_changed', () =>
    tell('mcp_list_changed', 'changed its list of tools; the run keeps the one it began with'),
  );
  const waitForEnd = async (): Promise<void> =>
    tell('mcp_gone', `is gone: ${await link.gone}; calls to its tools are errors from now on`);
  void waitForEnd();
  const waitForTrouble = async (): Promise<void> => {
    const how = await link.trouble;
    if (how !== undefined) tell('mcp_silent', `does not answer: ${how}; calls to its tools are errors until it does`);
  };
  void waitForTrouble();
}

interface Starting {
  config: McpServerConfig;
  parts: ServerParts;
  server: McpServer;
  connect: (options: { signal: AbortSignal; timeout: number }) => Promise<void>;
}

async function firstList({ config, parts, server, connect }: Starting): Promise<JsonObject[]> {
  const timeout_ms = config.timeout_ms ?? START_MS;
  const late = AbortSignal.timeout(timeout_ms);
  const signal = AbortSignal.any([parts.signal, late]);
  try {
    await connect({ signal, timeout: timeout_ms });
    return await listTools(server, { signal, timeout_ms });
  } catch (error) {
    if (late.aborted || isTimeout(error)) throw new Error(`did not answer within ${timeout_ms} ms`, { cause: error });
    throw error;
  }
}

async function listTools(
  server: McpServer,
  limits: { signal: AbortSignal; timeout_ms: number },
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await server.request('tools/list', cursor === undefined ? {} : { cursor }, limits);
    if (!isJsonObject(answer) || !Array.isArray(answer['tools'])) throw new Error('its list of tools cannot be read');
    found.push(...answer['tools'].filter(isJsonObject));
    cursor = answer['nextCursor'];
    if (found.length > MAX_TOOLS) throw new Error(`it lists more than ${MAX_TOOLS} tools`);
    if (typeof cursor !== 'string' || cursor === '') return found;
  }
  throw new Error(`its list of tools has more than ${MAX_PAGES} pages`);
}

/** Whether the client gave up waiting. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

function reasonOf(error: unknown): string {
  return `${errorText(error).slice(0, SHOWN_REASON)}${statusOf(error)}`;
}

/** " (status 401)" of an answer that was none, for messages. */
export function statusOf(error: unknown): string {
  return error instanceof Error && 'status' in error && typeof error.status === 'number'
    ? ` (status ${error.status})`
    : '';
}
