import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { IncomingMessage, ServerResponse } from 'node:http';

const SERVE = fileURLToPath(new URL('../../scripts/model/serve.py', import.meta.url));
const TEMPLATE = fileURLToPath(new URL('../../scripts/model/with-tools.jinja', import.meta.url));

/** Tokens that the server worked through, by its own counters; a prompt's cached part is in neither. */
export interface Worked {
  prompt: number;
  output: number;
}

export interface Model {
  /** The address, without a path. */
  url(): string;
  worked(): Promise<Worked>;
  /** Pieces that came so far of the reply that streams now. */
  pieces(): number;
}

/**
 * Serves the small model to the tests of a file, behind a relay that sees how replies arrive. The server ends with its
 * standard input, so it never outlives this process.
 */
export function useModel(context_tokens: number): Model {
  const state = { url: '', relay: '', pieces: 0 };
  let stop = (): void => {};
  beforeAll(async () => {
    const python = process.env['AGENT_RUN_MODEL_PYTHON'];
    if (python === undefined) throw new Error('start this suite with npm run test:model');
    const child = spawn(python, [SERVE, String(context_tokens), TEMPLATE]);
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
    });
    state.url = await firstAddress(child.stdout);
    if (state.url === '') throw new Error(`the model did not start:\n${log}`);
    const relay = createServer((from, to) => pass(from, to, state)).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const address = relay.address();
    state.relay = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    stop = () => {
      relay.closeAllConnections();
      relay.close();
      child.stdin.end();
    };
  });
  afterAll(() => stop());
  return { url: () => state.relay, worked: () => readCounters(state.url), pieces: () => state.pieces };
}

async function firstAddress(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) if (line.startsWith('http://127.0.0.1:')) return line;
  return '';
}

function pass(from: IncomingMessage, to: ServerResponse, state: { url: string; pieces: number }): void {
  const { method = 'GET', headers, url = '/' } = from;
  const out = request(`${state.url}${url}`, { method, headers }, (reply) => {
    to.writeHead(reply.statusCode ?? 500, reply.headers);
    state.pieces = 0;
    reply.on('data', () => (state.pieces += 1)).on('close', () => (state.pieces = 0));
    reply.pipe(to);
  });
  out.on('error', () => to.destroy());
  to.on('close', () => out.destroy()); // who hangs up on us hangs up on the server
  from.pipe(out);
}

async function readCounters(url: string): Promise<Worked> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const count = (name: string): number => Number(new RegExp(`^llamacpp:${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { prompt: count('prompt_tokens_total'), output: count('tokens_predicted_total') };
}
