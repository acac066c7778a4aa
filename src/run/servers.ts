import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { mcpToolRules } from '../core/mcp.ts';
import { shownTo } from '../core/media.ts';
import { serve } from '../workspace/serve.ts';
import { VERSION } from './version.ts';
import type { McpServerConfig, RunConfig } from '../core/config.ts';
import type { Tool } from '../core/ports.ts';
import type { McpTools } from '../tools/mcp.ts';
import type { HttpParts } from '../tools/mcp-http.ts';
import type { Redactor } from '../journal/redact.ts';
import type { Interrupts } from './interrupts.ts';
import type { Env, Place } from './place.ts';

/** Of what one server writes to stderr. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Takes what a server writes to stderr. */
export type ServerLog = (server: string) => (bytes: Uint8Array) => void;

/** Records a notice; false when nothing can be recorded yet, or any more. */
export type Notify = (code: string, message: string) => boolean;

export interface ServersOptions {
  config: RunConfig;
  env: Env;
  interrupts: Interrupts;
  redactor: Redactor;
  /** Absent in a dry run. */
  run_dir?: string;
  serverLog?: ServerLog;
  notify?: Notify;
}

/** The tools of the task's MCP servers, started; a dry run starts none and only names them. */
export async function startServers(options: ServersOptions, place: Place): Promise<McpTools> {
  const { mcp_servers = [] } = options.config.task;
  if (mcp_servers.length === 0 || options.run_dir === undefined || options.interrupts.signal.aborted)
    return named(mcp_servers);
  const { startMcpTools } = await import('../tools/mcp.ts');
  const { createHttpFetch } = await import('../model/http-fetch.ts');
  const { redactor, interrupts, serverLog, env, notify = () => false } = options;
  try {
    return await startMcpTools(mcp_servers, {
      serve,
      cwd: place.files.root,
      version: VERSION,
      signal: interrupts.signal,
      redact: redactor.redact,
      shows: shownTo(options.config.task.model),
      notify: (code, message) => notify(code, redactor.redact(message)),
      httpFor: (server) => {
        const asked = httpParts(server, env);
        return { ...asked, fetch: createHttpFetch(asked.url, env, SOCKETS) };
      },
      boundaryFor: (server) => place.boundaryFor(server),
      outputFor: ({ name }) => ({ filter: redactor.stream(), log: serverLog?.(name) ?? (() => {}) }),
    });
  } catch (error) {
    // Cut by the end of the run, which is no fault of the servers: there will be no call.
    if (interrupts.signal.aborted) return named(mcp_servers);
    throw error;
  }
}

/** Sockets to one server: calls that read run at the same time. */
const SOCKETS = 16;

/** How a server at a URL is asked; a UsageError for a header without a value. */
function httpParts({ name, url = '', headers_env = {} }: McpServerConfig, env: Env): Omit<HttpParts, 'fetch'> {
  const address = new URL(url); // checked with the task
  const headers = Object.entries(headers_env).map(([header, variable]): [string, string] => {
    const value = env[variable]?.trim() ?? '';
    const place = `mcp_servers.${name}.headers_env.${header}: ${variable}`;
    if (value === '') throw new UsageError(`${place} is not set, or empty`);
    // Its value is a secret, so it is not shown.
    if (!/^[\x20-\x7e]+$/.test(value)) throw new UsageError(`${place} holds characters that no header may have`);
    return [header, value];
  });
  return { url: address, headers: Object.fromEntries(headers) };
}

function named(servers: readonly McpServerConfig[]): McpTools {
  const tools = mcpToolRules(servers).map(({ name, server }): Tool => ({
    definition: { name, description: `A tool of the MCP server "${server}".`, input_schema: { type: 'object' } },
    execute: async () => ({
      status: 'error',
      content: [{ type: 'text', text: 'the server was not started' }],
      bytes: 0,
    }),
  }));
  const checkers = new Map(tools.map(({ definition }) => [definition.name, () => []]));
  return { tools, checkers, end: async () => {}, kill: () => {} };
}

/** Keeps stderr as `outputs/mcp-SERVER.stderr.txt`, up to a size; a run that goes on adds to the file. */
export function createServerLog(outputsDir: string): ServerLog {
  return (server) => {
    let left = MAX_LOG_BYTES;
    return (bytes) => {
      const part = bytes.subarray(0, Math.max(0, left));
      if (part.length === 0) return;
      left -= part.length;
      try {
        append(outputsDir, `mcp-${server}.stderr.txt`, part);
      } catch {
        left = 0; // ENOSPC, a folder that is gone: the run does not hang on a server's log
      }
    };
  };
}

function append(folder: string, name: string, bytes: Uint8Array): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, name), 'a', 0o600);
  try {
    writeSync(file, bytes);
  } finally {
    closeSync(file);
  }
}
