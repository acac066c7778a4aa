// What the ways to a server have in common.

import type { Transport } from '@modelcontextprotocol/client';
import { UsageError } from '../core/errors.ts';
import { logLine } from '../core/sanitise.ts';

/** A way to a server, open until it ends. */
export interface Link {
  transport: Transport;
  /** How it ended, in words; settles only for a server that ended by itself or was ended. */
  gone: Promise<string>;
  /** Settles the first time a server that is not gone did not answer. */
  trouble?: Promise<string>;
  /** How it ended, by now; undefined while it is open. */
  ended(): string | undefined;
  /** What the server said last beside the protocol, for messages: `; its stderr ends with: …`, or nothing. */
  last(): string;
  /** Within two seconds. */
  end(): Promise<void>;
  /** At once, by force. */
  kill(): void;
}

/** The error that ends a run before its first request. */
export function unavailable(server: string, reason: string): UsageError {
  return new UsageError(`MCP server "${server}": ${logLine(reason)}`, { reason: 'mcp_unavailable' });
}
