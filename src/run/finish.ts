import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringifyJson } from '../core/json.ts';
import { exitCode } from '../core/outcome.ts';
import { errorText } from '../core/errors.ts';
import { writeArtifacts, writeAtomically } from './artifacts.ts';
import { explain } from './explain.ts';
import { finalOutput } from './output.ts';
import { buildResult, lostFindings } from './result.ts';
import { BODIES, OUTPUTS, TRANSCRIPT } from './run-folder.ts';
import { buildSummary } from './summary.ts';
import { runnerFacts } from './version.ts';
import type { RunState } from '../agent/state.ts';
import type { RunConfig } from '../core/config.ts';
import type { JsonObject } from '../core/json.ts';
import type { RunOutcome } from '../core/outcome.ts';
import type { UsageReport } from '../subscribers/usage-report.ts';
import type { Written } from './artifacts.ts';
import type { ResultFile } from './result.ts';

export interface FinishFacts {
  config: RunConfig;
  run_dir: string;
  run_id: string;
  state: RunState;
  outcome: RunOutcome;
  usage: UsageReport;
  started_ms: number;
  finished_ms: number;
  /** The command to try next, for the summary. */
  next: string | null;
  /** What the run changed, as a patch; null or '' when nothing. */
  patch: () => Promise<string | null>;
  /** Removes what was made outside the workspace. */
  dispose(): void;
}

export interface Finished {
  outcome: RunOutcome;
  exit_code: number;
  message: string;
  result: JsonObject;
  /** The same, for who publishes it. */
  result_file: ResultFile;
  output_text: string | null;
  /** What of the output is not where the task says, for people. */
  lost: readonly string[];
}

/** Writes every artifact of an ended run; one that cannot be written makes a run that looked well an `io_error`. */
export async function finish(facts: FinishFacts): Promise<Finished> {
  const { state, run_dir } = facts;
  let { outcome } = facts;
  let file: ResultFile | undefined;
  const output = finalOutput(outcome, state);
  // What cannot be written makes a green run a lie.
  const admit = (problems: readonly string[]): void => {
    if (problems.length > 0 && exitCode(outcome) === 0) outcome = { reason: 'io_error', detail: problems.join('; ') };
  };
  const all = await writeArtifacts(
    run_dir,
    {
      'output.json': () => (output?.name === 'output.json' ? `${output.text}\n` : null),
      'output.md': () => (output?.name === 'output.md' ? `${output.text}\n` : null),
      'usage.json': () => pretty(facts.usage),
      'changes.patch': async () => (await facts.patch()) || null,
      'summary.md': () =>
        buildSummary(resultOf(facts, outcome, { written: [], problems: [] }), {
          next: facts.next,
          findings: facts.config.task.findings,
        }),
    },
    (sofar) => {
      cleanUp(facts);
      admit(sofar.problems);
      file = resultOf(facts, outcome, sofar);
      return pretty(file);
    },
  );
  admit(all.problems);
  const result = file && all.written.includes('result.json') ? file : resultOf(facts, outcome, all);
  return {
    outcome,
    exit_code: result.exit_code,
    message: result.message,
    result: { ...result } as unknown as JsonObject, // ResultFile holds nothing but JSON values
    result_file: result,
    output_text: output?.text ?? null,
    lost: lostFindings({ decided: facts.outcome, outcome, state, task: facts.config.task }),
  };
}

/** What a second signal leaves time for: usage and result, written before the process ends. Never throws. */
export function finishAtOnce(facts: FinishFacts): void {
  cleanUp(facts);
  const problems: string[] = [];
  const put = (name: 'usage.json' | 'result.json', text: () => string): void => {
    try {
      writeAtomically(facts.run_dir, name, text());
    } catch (error) {
      // A full disk or a folder that is gone: the process ends all the same.
      problems.push(`cannot write ${name}: ${errorText(error)}`);
    }
  };
  put('usage.json', () => pretty(facts.usage));
  const written = ['usage.json', 'result.json'] as const;
  put('result.json', () => pretty(resultOf(facts, facts.outcome, { written: [...written], problems })));
}

/** Before the result, not after it: a full home folder takes its time, and the process must end soon then (B101). */
function cleanUp(facts: FinishFacts): void {
  try {
    facts.dispose();
  } catch {
    // ENOTEMPTY, EACCES: something in the temporary folder cannot be removed, which is no fault of the run.
  }
}

function resultOf(facts: FinishFacts, outcome: RunOutcome, { written, problems }: Written): ResultFile {
  const { config, run_dir, state } = facts;
  return buildResult({
    run_id: facts.run_id,
    outcome,
    decided: facts.outcome,
    message: explain(outcome, state),
    state,
    task: state.start?.task ?? config.task,
    usage: facts.usage,
    runner: runnerFacts({
      mode: config.task.sandbox.mode,
      active: 'none',
      detail: 'the run ended before the sandbox was chosen',
    }),
    started_ms: facts.started_ms,
    finished_ms: facts.finished_ms,
    files: [
      ...written,
      TRANSCRIPT,
      ...[BODIES].filter((name) => existsSync(join(run_dir, name))),
      ...(hasOutputs(run_dir) ? [OUTPUTS] : []),
    ],
    problems,
  });
}

function hasOutputs(run_dir: string): boolean {
  try {
    return readdirSync(join(run_dir, OUTPUTS)).length > 0;
  } catch {
    // ENOENT: nothing was kept. ENOTDIR, EACCES: a process of the run got at the folder; the result must be written anyway.
    return false;
  }
}

function pretty(value: unknown): string {
  return `${JSON.stringify(JSON.parse(stringifyJson(value)), null, 2)}\n`;
}
