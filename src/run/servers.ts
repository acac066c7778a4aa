import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { mcpToolRules } from '../core/mcp.ts';
import { serve } from '../workspace/serve.ts';
import { VERSION } from './version.ts';
import type { McpServerConfig, RunConfig } from '../core/config.ts';
import type { Tool } from '../core/ports.ts';
import type { McpTools } from '../tools/mcp.ts';
import type { Redactor } from '../journal/redact.ts';
import type { Interrupts } from './interrupts.ts';
import type { Place } from './place.ts';

/** Of what one server writes to stderr. */
const MAX_LOG_BYTES = 1024 * 1024;

/** Takes what a server writes to stderr. */
export type ServerLog = (server: string) => (bytes: Uint8Array) => void;

export interface ServersOptions {
  config: RunConfig;
  interrupts: Interrupts;
  redactor: Redactor;
  /** Absent in a dry run. */
  run_dir?: string;
  serverLog?: ServerLog;
}

/** The tools of the task's MCP servers, started; a dry run starts none and only names them. */
export async function startServers(options: ServersOptions, place: Place): Promise<McpTools> {
  const { mcp_servers = [] } = options.config.task;
  if (mcp_servers.length === 0 || options.run_dir === undefined || options.interrupts.signal.aborted)
    return named(mcp_servers);
  const { startMcpTools } = await import('../tools/mcp.ts');
  const { redactor, interrupts, serverLog } = options;
  try {
    return await startMcpTools(mcp_servers, {
      serve,
      cwd: place.files.root,
      version: VERSION,
      signal: interrupts.signal,
      redact: redactor.redact,
      boundaryFor: (server) => place.boundaryFor(server),
      outputFor: ({ name }) => ({ filter: redactor.stream(), log: serverLog?.(name) ?? (() => {}) }),
    });
  } catch (error) {
    // Cut by the end of the run, which is no fault of the servers: there will be no call.
    if (interrupts.signal.aborted) return named(mcp_servers);
    throw error;
  }
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
