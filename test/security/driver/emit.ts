import { appendSummary, stepOutputs, writeOutputs } from '../../../src/action/outputs.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOutputs } from '../../helpers/step-files.ts';
import { checkProblem, leakProblem, type Scene } from './checks.ts';
import { fill, closeFixture, makeFixture, type Fixture } from './fixture.ts';
import { playCli } from './play-cli.ts';
import { remoteImages } from './markdown.ts';
import type { Check, SecurityCase } from './cases.ts';
import type { Played } from './play.ts';

const MAX_SUMMARY_BYTES = 1024 * 1024;

/** The model says the case's text, in a job of GitHub Actions; its streams, files and step files are looked at. */
export async function runEmitCase(one: SecurityCase, cli: string): Promise<string[]> {
  const fixture = await makeFixture();
  try {
    return await playCase(one, fixture, cli);
  } finally {
    closeFixture(fixture);
  }
}

async function playCase(one: SecurityCase, fixture: Fixture, cli: string): Promise<string[]> {
  const text = fill(fixture, String(one.input['text']));
  const played = await say(fixture, text, cli);
  const scene: Scene = {
    fixture,
    played,
    originals: new Map(),
    emitted: channelText(String(one.input['channel']), played),
  };
  const checks = (one.check ?? []).map((check) => emitProblem(check, scene));
  return [leakProblem(scene), ...checks].filter((problem) => problem !== undefined);
}

/** Plays a run whose model says the text: as its answer, in its thinking, and as a command that is refused. */
async function say(fixture: Fixture, text: string, cli: string): Promise<Played> {
  const task = {
    prompt: 'Say it.',
    tools: { bash: { allow: ['true'] } },
    model: {
      provider: 'script',
      id: 'script',
      script: { turns: [{ text, tool_use: [{ name: 'bash', input: { command: text } }] }, { text }] },
    },
  };
  return playCli(fixture, { task: JSON.stringify(task), cli, env: { GITHUB_ACTIONS: 'true' } });
}

/** What a channel hands on; the transcript keeps raw text, as JSON. */
function channelText(channel: string, { stdout, log, files }: Played): string {
  const texts: Record<string, string | undefined> = {
    log: `${log}\n${stdout}`,
    output: files['output.md'],
    summary: files['summary.md'],
    artifact: Object.values(files).join('\n'),
  };
  return texts[channel] ?? '';
}

function emitProblem(check: Check, scene: Scene): string | undefined {
  const { fixture, played, emitted = '' } = scene;
  const holds: Record<string, () => boolean> = {
    outputLacks: () => emitted !== '' && !emitted.includes(fill(fixture, check.text ?? '')),
    outputFileKeys: () => matchesKeys(fixture, played, check.keys ?? []),
    noRemoteImage: () => emitted !== '' && remoteImages(emitted).length === 0,
    summaryMaxBytes: () => summaryBytes(fixture, played) <= (check.bytes ?? 0),
  };
  const own = holds[check.type];
  if (!own) return checkProblem(check, scene);
  return own() ? undefined : `${JSON.stringify(check)} does not hold: ${JSON.stringify(emitted.slice(0, 2000))}`;
}

/** The keys that the output file sets are ours and no more, and the value comes back whole; "result" is our `output`. */
function matchesKeys(fixture: Fixture, played: Played, keys: readonly string[]): boolean {
  const file = join(fixture.base, 'github-output');
  writeFileSync(file, '');
  const output_text = played.files['output.md'] ?? '';
  const outcome = { reason: 'completed' } as const;
  const ended = { outcome, exit_code: played.exit_code, message: '', run_dir: fixture.run_dir, output_text };
  const { outputs } = stepOutputs(ended);
  writeOutputs(file, outputs);
  const read = readOutputs(readFileSync(file, 'utf8'));
  const same = Object.keys(outputs).every((name) => name in read) && Object.keys(read).every((name) => name in outputs);
  return keys.length === 1 && same && read['output'] === output_text;
}

/** What a step would have on its page, which holds something already. */
function summaryBytes(fixture: Fixture, played: Played): number {
  const file = join(fixture.base, 'github-summary');
  writeFileSync(file, '# Before\n');
  appendSummary(file, played.files['summary.md'] ?? '', MAX_SUMMARY_BYTES);
  return Math.max(readFileSync(file).length, Buffer.byteLength(played.files['summary.md'] ?? ''));
}
