import { runAgent } from '../agent/loop.ts';
import { EMPTY_STATE } from '../agent/state.ts';
import { atService } from '../model/at-service.ts';
import { lookUp } from '../model/look-up.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { listen } from './interrupts.ts';
import { pruneRunFolders } from './prune.ts';
import { createRunId, openRunFolder } from './run-folder.ts';
import { runSegment } from './segment.ts';
import { buildStart } from './start.ts';
import type { RunConfig } from '../core/config.ts';
import type { AbortCause } from '../core/events.ts';
import type { GitFacts } from '../workspace/git-facts.ts';
import type { CancelSignal } from '../core/outcome.ts';
import type { Subscriber } from '../core/ports.ts';
import type { Interrupts } from './interrupts.ts';
import type { Env } from './place.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunPlace, SegmentResult } from './segment.ts';

export interface RunRequest {
  config: RunConfig;
  /** The task and its options as they were typed, for commands that are suggested. */
  words?: string;
  env: Env;
  /** Where the run folder and relative paths begin; default: the process's own. */
  cwd?: string;
  /** The signal that came before anybody listened, asked for once somebody does. */
  early_signal?: () => CancelSignal | undefined;
  /** What may cut the run short; absent: the process's signals. Disposed of at the end. */
  interrupts?: Interrupts;
  /** The folder that stands for `agent-run-results`; absolute. */
  results?: string;
  /** What git says of workspaces, shared with other runs of this process. */
  facts?: GitFacts;
  subscribers: (place: RunPlace) => Subscriber[];
  /** Hears of secrets that come up in mid-run, before they are used. */
  onSecret?: (value: string) => void;
}

/** One run from its configuration to its artifacts. Throws UsageError only while no run folder is known. */
export async function run(request: RunRequest): Promise<SegmentResult> {
  const { env, cwd = process.cwd(), subscribers } = request;
  const interrupts = request.interrupts ?? listen(request.early_signal);
  try {
    const attempt = Number(env['GITHUB_RUN_ATTEMPT']) || 1;
    const run_id = createRunId({ now_ms: SYSTEM_CLOCK.now(), attempt, random: Math.random });
    const { out, keep } = request.config;
    const folder = folderFor(request, run_id);
    const config = await placed(request, interrupts.signal);
    const result = await runSegment({
      config,
      ...(request.words === undefined ? {} : { words: request.words }),
      env,
      cwd,
      folder,
      run_id,
      interrupts,
      subscribers,
      onSecret: request.onSecret,
      facts: request.facts,
      state: EMPTY_STATE,
      earlier: [],
      spent_ms: 0,
      async work(recorder, built, options) {
        const begun = await buildStart(options, built);
        if (!begun) return interrupts.signal.reason as AbortCause; // run/interrupts.ts aborts with nothing else
        recorder.record(begun.start);
        for (const message of begun.warnings)
          recorder.record({ type: 'notice', level: 'warning', code: 'context', message });
        return runAgent(built.parts, recorder, interrupts.signal);
      },
    });
    if (keep !== undefined && out === undefined) pruneRunFolders(folder.dir, keep);
    return result;
  } finally {
    interrupts.dispose();
  }
}

function folderFor({ config, cwd = process.cwd(), results }: RunRequest, run_id: string): RunFolder {
  const { out, task } = config;
  const place = { ...(out === undefined ? {} : { out }), ...(results === undefined ? {} : { results }) };
  return openRunFolder({ ...place, cwd, name: task.name, run_id });
}

/** The configuration with what the environment, and a service that is asked, say about its model. */
async function placed({ config, env, onSecret }: RunRequest, signal: AbortSignal): Promise<RunConfig> {
  const model = await lookUp(atService(config.task.model, env), env, { signal, onSecret });
  return { ...config, task: { ...config.task, model } };
}
