import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import { BWRAP, createSandbox } from './bubblewrap.ts';
import { parseHostRule } from './hosts.ts';
import type { Boundary } from '../core/ports.ts';
import type { Sandbox, SandboxOptions } from './bubblewrap.ts';
import type { HostRule } from './hosts.ts';

export interface ChooseOptions extends SandboxOptions {
  untrusted: boolean;
  /** Whether the task can start a process at all. */
  starts_processes: boolean;
}

/** The boundary tools run in: nothing falls back silently, and an untrusted run never without a sandbox by accident. */
export async function chooseBoundary(plain: Boundary, options: ChooseOptions): Promise<Sandbox> {
  const { config, untrusted, starts_processes } = options;
  const hosts = hostRules(config.network);
  if (config.mode === 'off') return switchedOff(plain, options);
  const issue = probe(options);
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

const probed = new Map<string, string | undefined>();

/** Runs the real profile once per workspace and process; the text says why it does not work here. */
function probe(options: SandboxOptions): string | undefined {
  const key = JSON.stringify([options.workspace, options.config]);
  if (!probed.has(key)) probed.set(key, probeNow(options));
  return probed.get(key);
}

function probeNow(options: SandboxOptions): string | undefined {
  if (process.platform !== 'linux') return `bubblewrap is for Linux, this is ${process.platform}`;
  if (!existsSync(BWRAP)) return `${BWRAP} is missing (Debian, Ubuntu: apt-get install bubblewrap)`;
  const sandbox = createSandbox(options);
  const wrapped = sandbox.wrap(['/bin/sh', '-c', 'test -r . && echo inside'], options.workspace);
  const { cwd, env } = wrapped;
  const [file = BWRAP, ...args] = wrapped.argv;
  const result = spawnSync(file, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 10_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  wrapped.release?.();
  sandbox.dispose();
  if (result.status === 0 && result.stdout.trim() === 'inside') return undefined;
  const said = result.stderr.trim().split('\n').at(-1) ?? '';
  return `bubblewrap does not work here: ${said || result.error?.message || `exit code ${result.status}`}`;
}
