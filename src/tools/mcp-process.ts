// A server that is a process of its own: its pipes tied to a transport, its stderr kept.

import type { McpServerConfig } from '../core/config.ts';
import type { Boundary, Redact, StartService, StreamFilter } from '../core/ports.ts';
import { type Link, unavailable } from './mcp-link.ts';
import { createWire, type Wire, type WireOptions } from './mcp-wire.ts';

const SHOWN_LINE = 300;
const TAIL_BYTES = 4096;

export interface ProcessParts {
  serve: StartService;
  boundary: Boundary;
  cwd: string;
  redact: Redact;
  /** What the server writes to stderr passes through it, and on to `log`. */
  filter: StreamFilter;
  log: (bytes: Uint8Array) => void;
}

/** Starts the process; a UsageError (`mcp_unavailable`) when it cannot start. */
export async function startProcess(
  { name, command }: McpServerConfig,
  parts: ProcessParts,
  parse: WireOptions['parse'],
): Promise<Link> {
  const { serve, cwd, boundary } = parts;
  const said = createStderr(parts);
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
  const gone = async (): Promise<string> => {
    const how = await service.exited;
    link.ended = link.flood ?? how;
    said.end();
    wire.gone();
    return link.ended;
  };
  return {
    transport: wire,
    gone: gone(),
    ended: () => link.ended,
    last: said.last,
    end: () => service.end(),
    kill: () => service.kill(),
  };
}

interface Stderr {
  take: (chunk: Uint8Array) => void;
  end: () => void;
  /** `; its stderr ends with: …`, or nothing. */
  last: () => string;
}

/** Keeps what a server writes to stderr, and its last line for messages. */
function createStderr({ filter, log, redact }: Pick<ProcessParts, 'filter' | 'log' | 'redact'>): Stderr {
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
      const lines = tail
        .toString('utf8')
        .trimEnd()
        .split(/\r\n|\r|\n/);
      const last = lines.at(-1) ?? '';
      if (last === '') return '';
      // What a crash prints last is often a version, or a place; its cause stands above.
      const cause = lines.findLast((line) => /^(?:Uncaught )?\w*(?:Error|Exception)\b.*: /.test(line)) ?? last;
      const verb = cause === last ? 'ends with' : 'says';
      return `; its stderr ${verb}: ${redact(cause).slice(0, SHOWN_LINE).toWellFormed()}`;
    },
  };
}
