import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { NO_PROCESSES } from '../core/texts.ts';
import { BWRAP, createSandbox } from './bubblewrap.ts';
import { parseHostRule } from './hosts.ts';
import type { Boundary, Wrapped } from '../core/ports.ts';
import type { Sandbox, SandboxOptions } from './bubblewrap.ts';
import type { HostRule } from './hosts.ts';

export interface ChooseOptions extends SandboxOptions {
  untrusted: boolean;
  /** Whether the task can start a process at all. */
  starts_processes: boolean;
}

const PROBE_MS = 10_000;

/** The boundary tools run in: nothing falls back silently, and an untrusted run never without a sandbox by accident. */
export async function chooseBoundary(plain: Boundary, options: ChooseOptions): Promise<Sandbox> {
  const { config, untrusted, starts_processes } = options;
  const hosts = hostRules(config.network);
  if (config.mode === 'off') return switchedOff(plain, options);
  // A sandbox is for processes; a run without any is spared the probe, unless it asks for one.
  if (config.mode === 'auto' && !starts_processes) {
    return without(plain, { mode: 'auto', active: 'none', detail: NO_PROCESSES });
  }
  const issue = await probe(options);
  if (issue === undefined) return hosts ? withProxy(options, hosts) : createSandbox(options);
  const needed = config.mode === 'required' || (untrusted && starts_processes);
  if (needed) {
    const why = config.mode === 'required' ? 'sandbox.mode is "required"' : 'the run is untrusted';
    throw new UsageError(`no sandbox: ${issue}; ${why}, so nothing is started`, { reason: 'sandbox_unavailable' });
  }
  return without(plain, { mode: config.mode, active: 'none', detail: issue });
}

function hostRules(network: ChooseOptions['config']['network']): HostRule[] | undefined {
  if (typeof network === 'boolean') return undefined;
  return network.map((text) => {
    const rule = parseHostRule(text);
    if ('error' in rule) throw new UsageError(`sandbox.network: ${rule.error}`);
    return rule;
  });
}

async function withProxy(options: SandboxOptions, rules: readonly HostRule[]): Promise<Sandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-run-'));
  const { startHostProxy } = await import('./proxy.ts'); // Node's resolver takes a moment to load
  const proxy = await startHostProxy(join(folder, 'proxy.sock'), rules);
  const sandbox = createSandbox({ ...options, proxy_socket: proxy.socket });
  return {
    ...sandbox,
    dispose() {
      sandbox.dispose();
      proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function switchedOff(plain: Boundary, { config, untrusted }: ChooseOptions): Sandbox {
  if (untrusted && !config.allow_untrusted) {
    const text = 'sandbox.mode is "off" and the run is untrusted: that needs "allow_untrusted": true beside it';
    throw new UsageError(text, { reason: 'sandbox_unavailable' });
  }
  return without(plain, { mode: 'off', active: 'none', detail: 'switched off in the task' });
}

function without(plain: Boundary, state: Boundary['state']): Sandbox {
  return { ...plain, wrap: (argv, cwd) => plain.wrap(argv, cwd), state, dispose: () => undefined };
}

const probed = new Map<string, Promise<string | undefined>>();

/** Runs the real profile once per workspace and process; the text says why it does not work here. */
function probe(options: SandboxOptions): Promise<string | undefined> {
  const key = JSON.stringify([options.workspace, options.config]);
  const probing = probed.get(key) ?? probeNow(options);
  probed.set(key, probing);
  return probing;
}

async function probeNow(options: SandboxOptions): Promise<string | undefined> {
  if (process.platform !== 'linux') return `bubblewrap is for Linux, this is ${process.platform}`;
  if (!existsSync(BWRAP)) return `${BWRAP} is missing (Debian, Ubuntu: apt-get install bubblewrap)`;
  const sandbox = createSandbox(options);
  const wrapped = sandbox.wrap(['/bin/sh', '-c', 'test -r . && echo inside'], options.workspace);
  const result = await collect(wrapped);
  wrapped.release?.();
  sandbox.dispose();
  if (result.status === 0 && result.stdout.trim() === 'inside') return undefined;
  const said = result.stderr.trim().split('\n').at(-1) ?? '';
  return `bubblewrap does not work here: ${said || result.error || `exit code ${result.status}`}`;
}

interface Collected {
  status: number | null;
  stdout: string;
  stderr: string;
  error?: string;
}

/** Runs what was wrapped to its end while the start goes on with other things. */
async function collect({ argv: [file = BWRAP, ...args], cwd, env }: Wrapped): Promise<Collected> {
  const child = spawn(file, args, { cwd, env, timeout: PROBE_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ ...said, status: null, error: error.message }));
    child.once('close', (status) => resolve({ ...said, status }));
  });
}
