import { createContext } from '../context/collect.ts';
import { UsageError } from '../core/errors.ts';
import { TRANSCRIPT_VERSION } from '../core/events.ts';
import { mapStrings } from '../core/map-strings.ts';
import { exec } from '../workspace/exec.ts';
import { networkEnvironment } from '../workspace/git-fetch.ts';
import { runnerFacts } from './version.ts';
import type { RunStart } from '../core/events.ts';
import type { Git } from '../core/ports.ts';
import type { Built, PartsOptions } from './parts.ts';

/**
 * The first line of a transcript: everything a run is made from, so that nothing is read again later. Null when the run
 * was cut before all of that was there: whoever went on from half of it would take it for the whole.
 */
export async function buildStart(
  options: PartsOptions,
  built: Built,
): Promise<{ start: RunStart; warnings: string[] } | null> {
  const { config, env, interrupts } = options;
  const { task } = config;
  const { parts, prompts, place, redactor } = built;
  const event_path = env['GITHUB_EVENT_PATH'];
  const git = await place.git.state();
  const collect = createContext({
    files: place.files,
    git: place.git,
    exec,
    boundary: place.boundary,
    inputs: task.inputs,
    ...(event_path ? { event_path } : {}),
    redact: redactor.redact,
    timeout_ms: task.limits.tool_timeout_ms,
  });
  const context = await fetchMissing(options, place.git)
    .then(() => collect(task.context, interrupts.signal))
    .catch(orCut(interrupts.signal));
  if (context === null || isCut(options)) return null;
  const start: RunStart = {
    type: 'run_start',
    transcript_version: TRANSCRIPT_VERSION,
    runner: runnerFacts(place.boundary.state),
    // Inputs and prompts may hold what a caller should not have put there.
    task: mapStrings(task, redactor.redact),
    workspace: place.files.root,
    untrusted: config.untrusted,
    git,
    context: context.parts,
    ...(context.skip === undefined ? {} : { skip: context.skip }),
    system: redactor.redact(prompts.system(parts.gate.mode, task.system)),
    tools: [...parts.registry.definitions, ...(parts.gate.tool ? [parts.gate.tool] : [])].map(prompts.described),
    output_mode: parts.gate.mode,
  };
  return { start, warnings: [...built.warnings, ...context.warnings] };
}

/** What is wrong with an item that was cut is no mistake of the caller: the cut came first. */
function orCut(signal: AbortSignal): (error: unknown) => null {
  return (error) => {
    if (error instanceof UsageError && signal.aborted) return null;
    throw error;
  };
}

/** True when context, or the list of a server's tools, may lack something because the run ends. */
function isCut({ config, interrupts }: PartsOptions): boolean {
  const { context, mcp_servers = [] } = config.task;
  return interrupts.signal.aborted && context.length + mcp_servers.length > 0;
}

/** All of it before the first item is read: an item may be a command, and then the workspace's own code has run. */
async function fetchMissing({ config, env, interrupts }: PartsOptions, git: Git): Promise<void> {
  const network = networkEnvironment(env);
  for (const item of config.task.context) {
    if (item.kind !== 'git_diff' && item.kind !== 'git_log') continue;
    await git.fetchMissing(item, { env: network, signal: interrupts.signal });
  }
}
