// One MCP server: started as a process of its own, asked once for its tools, then only called.

import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { McpServerConfig } from '../core/config.ts';
import { errorText, UsageError } from '../core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { Boundary, Redact, Service, StartService, StreamFilter } from '../core/ports.ts';
import { logLine } from '../core/sanitise.ts';
import { createWire, type Wire, type WireOptions } from './mcp-wire.ts';

/** Time to start, where the task says none. */
const START_MS = 30_000;
const MAX_PAGES = 20;
const MAX_TOOLS = 1000;
const SHOWN_LINE = 300;
const TAIL_BYTES = 4096;

export interface ServerParts {
  serve: StartService;
  boundary: Boundary;
  cwd: string;
  /** Version of the runner. */
  version: string;
  signal: AbortSignal;
  redact: Redact;
  /** What the server writes to stderr passes through it, and on to `log`. */
  filter: StreamFilter;
  log: (bytes: Uint8Array) => void;
}

/** A server that answers. */
export interface McpServer {
  /** Its tools as it listed them at the start; a list that changes later is not looked at. */
  list: readonly JsonObject[];
  request(method: string, params: JsonObject, limits: { signal: AbortSignal; timeout_ms: number }): Promise<JsonValue>;
  /** How it ended; undefined while it runs. */
  ended(): string | undefined;
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
  const { Client, deserializeMessage } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'agent-run', version: parts.version }, { capabilities: {} });
  const said = createStderr(parts);
  const { service, wire, ended } = await startLink(config, parts, { said, parse: deserializeMessage });
  const server = createServer(client, service, ended);
  const connect: Starting['connect'] = async (options) => client.connect(wire, options);
  server.list = await firstList({ config, parts, server, connect }).catch(async (error: unknown) => {
    await server.end();
    throw unavailable(config.name, `${ended() ?? reasonOf(error)}${said.last()}`);
  });
  return server;
}

interface Link {
  service: Service;
  wire: Wire;
  ended: () => string | undefined;
}

/** Starts the process and ties its pipes to a transport. */
async function startLink(
  { name, command }: McpServerConfig,
  { serve, cwd, boundary }: ServerParts,
  { said, parse }: { said: Stderr; parse: WireOptions['parse'] },
): Promise<Link> {
  const link: { heard?: Wire['heard']; flood?: string; ended?: string } = {};
  const onStdout = (chunk: Uint8Array): void => link.heard?.(chunk);
  const started = await serve(command, { cwd, boundary, onStdout, onStderr: said.take });
  if (!started.ok) throw unavailable(name, `cannot start: ${started.reason}`);
  const { service } = started;
  const wire = createWire({
    service,
    parse,
    onNoise: (line) => said.take(Buffer.from(`${line.slice(0, SHOWN_LINE)}\n`)),
    onFlood: () => {
      link.flood = 'it was ended: it sent more than it was asked for';
    },
  });
  link.heard = wire.heard;
  const waitForEnd = async (): Promise<void> => {
    const how = await service.exited;
    link.ended = link.flood ?? how;
    said.end();
    wire.gone();
  };
  void waitForEnd();
  return { service, wire, ended: () => link.ended };
}

function createServer(client: Client, service: Service, ended: McpServer['ended']): McpServer {
  return {
    list: [],
    request: async (method, params, { signal, timeout_ms }) =>
      client.request({ method, params }, ANY, { signal, timeout: timeout_ms }),
    ended,
    end: () => service.end(),
    kill: () => service.kill(),
  };
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
  return errorText(error).slice(0, SHOWN_LINE);
}

/** The error that ends a run before its first request. */
export function unavailable(server: string, reason: string): UsageError {
  return new UsageError(`MCP server "${server}": ${logLine(reason)}`, { reason: 'mcp_unavailable' });
}

interface Stderr {
  take: (chunk: Uint8Array) => void;
  end: () => void;
  /** `; its stderr ends with: …`, or nothing. */
  last: () => string;
}

/** Keeps what a server writes to stderr, and its last line for messages. */
function createStderr({ filter, log, redact }: Pick<ServerParts, 'filter' | 'log' | 'redact'>): Stderr {
  let tail = Buffer.alloc(0);
  let over = false;
  const keep = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    tail = Buffer.from(Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES));
    log(bytes);
  };
  const end = (): void => {
    if (!over) keep(filter.end());
    over = true;
  };
  return {
    take: (chunk: Uint8Array): void => {
      if (!over) keep(filter.push(chunk));
    },
    end,
    last: (): string => {
      end();
      const line =
        tail
          .toString('utf8')
          .trimEnd()
          .split(/\r\n|\r|\n/)
          .at(-1) ?? '';
      return line === '' ? '' : `; its stderr ends with: ${redact(line).slice(0, SHOWN_LINE).toWellFormed()}`;
    },
  };
}
