// The bundled command line, started as a child process with an environment of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

export interface CliOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Absent: an open pipe that nobody writes to. */
  stdin?: string;
}

export type RunCli = (argv: readonly string[], options: CliOptions) => Promise<CliResult>;

/** Bundles the command line once for a test file, from the sources as they are. */
export function useCli(): { path: () => string; run: RunCli } {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agent-run-cli-'));
    const entryPoints = { cli: 'src/cli/main.ts' };
    await build({ ...bundleOptions, entryPoints, outdir: join(folder, 'dist') });
  }, 30_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = (): string => join(folder, 'dist/cli.mjs');
  return { path, run: (argv, options) => runCli(path(), argv, options) };
}

function runCli(path: string, argv: readonly string[], { cwd, env = {}, stdin }: CliOptions): Promise<CliResult> {
  const started = Date.now();
  const base = { PATH: process.env['PATH'] ?? '', HOME: cwd };
  const child = spawn(process.execPath, [path, ...argv], { cwd, env: { ...base, ...env } });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  if (stdin !== undefined) child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...text, ms: Date.now() - started }));
  });
}
