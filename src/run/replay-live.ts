// `replay --tools live`: the model from the transcript, calls judged and run for real.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from './clock.ts';
import { createOutputStore, storedOutputs } from './output-store.ts';
import { buildParts, redactorFor } from './parts.ts';
import { earlyTurn, lenient, recordedJudgement, untilCut } from './replay-parts.ts';
import { refuseCommitted, staysUntrusted } from './resume-trust.ts';
import type { RunStart } from '../core/events.ts';
import type { ModelClient, Policy, Tool, ToolRegistry } from '../core/ports.ts';
import type { Interrupts } from './interrupts.ts';
import type { Env } from './place.ts';
import type { Acting } from './replay-parts.ts';
import type { Tape } from './replay-tape.ts';

/** One segment of a recorded run, as its acting parts need to know it. */
export interface ActingSegment {
  start: RunStart;
  tape: Tape;
  model: ModelClient;
  /** Calls whose input was not recorded, by id: they cannot run again. */
  lost: ReadonlySet<string>;
  signal: AbortSignal;
  ordinary: AbortSignal;
}

export interface LiveOptions {
  env: Env;
  cwd: string;
  /** The recorded run folder: no call sees or writes it. */
  run_dir: string;
  /** Absent: the workspace of the recorded run. */
  workspace?: string;
}

export interface LiveTools {
  build(segment: ActingSegment): Promise<Acting>;
  dispose(): void;
}

/** Tools and policy as a run has them; whole outputs go to a folder of their own. */
export function liveTools(options: LiveOptions): LiveTools {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'agent-run-replay-'));
  const keepOutput = createOutputStore(join(folder, 'outputs'));
  const undo: (() => void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  return {
    async build(segment) {
      const { start, model } = segment;
      const { env, cwd, run_dir, workspace = start.workspace } = options;
      const untrusted = staysUntrusted(start, env);
      if (untrusted) await refuseCommitted(run_dir, env); // its calls would run here
      const built = await buildParts({
        config: { task: start.task, workspace, untrusted },
        env,
        cwd,
        clock: SYSTEM_CLOCK,
        random: Math.random,
        interrupts: recordedInterrupts(segment),
        run_dir,
        redactor: redactorFor(start.task, env),
        model,
        keepOutput,
        readStored: storedOutputs(folder),
      });
      undo.push(() => built.dispose());
      const { registry, policy, verify, redact, filter, clock } = built.parts;
      return {
        registry: liveRegistry(registry, segment),
        policy: livePolicy(policy, segment),
        verify: (command, signal) => segment.tape.busy(verify(command, signal)),
        redact,
        filter,
        keepOutput,
        clock,
      };
    },
    dispose: () => undo.splice(0).forEach((act) => act()),
  };
}

/** Signals and deadlines come from the recording. */
function recordedInterrupts({ signal, ordinary }: ActingSegment): Interrupts {
  return {
    signal,
    ordinary,
    abort: () => {},
    startDeadline: () => {},
    remaining: () => Infinity,
    atOnce: () => {},
    behind: () => {},
    fault: () => undefined,
    dispose: () => {},
  };
}

function liveRegistry(registry: ToolRegistry, { tape, lost }: ActingSegment): ToolRegistry {
  const live = (tool: Tool): Tool => ({
    definition: tool.definition,
    execute: (call, plan, context) =>
      lost.has(call.id) ? untilCut(context.signal) : tape.busy(tool.execute(call, plan, context)),
  });
  const known = lenient(registry);
  return {
    definitions: known.definitions,
    parse: (name, input_json) => known.parse(name, input_json),
    get(name) {
      const tool = registry.get(name);
      return tool && live(tool);
    },
  };
}

function livePolicy(policy: Policy, { tape, lost }: ActingSegment): Policy {
  return {
    async judge(call) {
      const judged = lost.has(call.id) ? recordedJudgement(call.id, tape) : await tape.busy(policy.judge(call));
      await earlyTurn(call.id, tape);
      return judged;
    },
  };
}
