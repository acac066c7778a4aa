import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BWRAP } from '../../../src/sandbox/bubblewrap.ts';
import { checkProblem, leakProblem, originalsOf, type Scene } from './checks.ts';
import { closeFixture, makeFixture, type Fixture } from './fixture.ts';
import { playCli } from './play-cli.ts';
import { setUp } from './setup.ts';
import { taskOf } from './task.ts';
import type { Check, SecurityCase } from './cases.ts';
import type { Played } from './play.ts';

const FORBIDDEN = 'id -un';

/** Starts the whole runner as a job of the case's event would, with the task where the case has it. */
export async function runTrustCase(one: SecurityCase, cli: string): Promise<string[]> {
  const fixture = await makeFixture();
  try {
    return await playCase(one, fixture, cli);
  } finally {
    closeFixture(fixture);
  }
}

async function playCase(one: SecurityCase, fixture: Fixture, cli: string): Promise<string[]> {
  await setUp(fixture, one.setup);
  const originals = originalsOf(one.check, fixture);
  const task = trustTask(one);
  const played = await playCli(fixture, {
    cli,
    task: JSON.stringify(task),
    env: eventEnvironment(fixture, String(one.input['event'])),
    ...(one.input['taskFrom'] === 'head' ? { file: join(fixture.workspace, 'task.json') } : {}),
    ...(one.input['bwrap'] === 'missing' ? { wrapper: withoutBubblewrap() } : {}),
  });
  const scene: Scene = { fixture, played, originals };
  const checks = (one.check ?? []).map((check) => trustProblem(check, scene, task));
  return [startProblem(one, played), leakProblem(scene), ...checks].filter((problem) => problem !== undefined);
}

/** Tries a call that the policy does not allow, then one that it does where there is such a rule. */
function trustTask(one: SecurityCase): Record<string, unknown> {
  const allowed = one.policy.bash?.[0] ?? 'git status *';
  const policy = { bash: [allowed], ...one.policy };
  const commands = [FORBIDDEN, allowed.replace(/ \*$/, '')];
  const turns = [
    ...commands.map((command, at) => ({ tool_use: [{ name: 'bash', input: { command }, id: `toolu_${at}` }] })),
    { text: 'done' },
  ];
  const task = taskOf({ ...one, policy }, turns);
  const verify = one.input['verify'];
  const anthropic = { model: { provider: 'anthropic', id: 'claude-haiku-5-5' }, limits: { max_retries: 0 } };
  return {
    ...task,
    ...(Array.isArray(verify) ? { verify: [{ run: verify, attempts: 1 }] } : {}),
    // Only a client of a real service would look for another address of it.
    ...(JSON.stringify(one.setup ?? []).includes('BASE_URL') ? anthropic : {}),
  };
}

function eventEnvironment(fixture: Fixture, event: string): Record<string, string> {
  const payload = join(fixture.runner_temp, 'event.json');
  const repo = (full_name: string) => ({ repo: { full_name } });
  const pull = { head: repo('stranger/project'), base: repo('owner/project') };
  writeFileSync(payload, JSON.stringify(event === 'pull_request' ? { pull_request: pull } : {}));
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: payload,
    GITHUB_REPOSITORY: 'owner/project',
    ANTHROPIC_API_KEY: fixture.canary,
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', // the discard port: nobody is there
  };
}

/** What comes after it finds no program at bubblewrap's place; bubblewrap itself hides it. */
function withoutBubblewrap(): string[] {
  return existsSync(BWRAP) ? [BWRAP, '--dev-bind', '/', '/', '--ro-bind', '/dev/null', BWRAP, '--'] : [];
}

function startProblem(
  { expected, input }: SecurityCase,
  { exit_code, refused, log, events }: Played,
): string | undefined {
  const started = events.some(({ type }) => type === 'model_reply' || type === 'model_failed' || type === 'tool_start');
  if (expected === 'deny') {
    const clear = [2, 5].includes(exit_code) && (refused ?? '').length > 10;
    return started || !clear ? `was not refused at once: ${exit_code} ${log}` : undefined;
  }
  if (expected === 'allow' && exit_code !== 0) return `did not succeed: ${exit_code} ${log}`;
  // A contained case shows nothing when the run did not take place.
  const verified = !Array.isArray(input['verify']) || events.some((event) => event.type === 'verify_end');
  return started && verified ? undefined : `did not run: ${exit_code} ${log}`;
}

function trustProblem(check: Check, scene: Scene, task: Record<string, unknown>): string | undefined {
  const { played } = scene;
  if (check.type === 'policyUnchanged')
    return isPolicyUnchanged(played, task) ? undefined : `the policy is another one: ${played.log}`;
  if (check.type !== 'logHas' || check.text !== 'sandbox: off') return checkProblem(check, scene);
  // An explicit choice shows in the log, the transcript and the summary.
  const mode = played.events.find((event) => event.type === 'run_start')?.runner.sandbox.mode;
  const shown = mode === 'off' && (played.files['summary.md'] ?? '').includes(check.text ?? '');
  return shown ? checkProblem(check, scene) : `the choice is not in the transcript and the summary: ${mode}`;
}

/** The rules in force are those of the task, and what they do not allow is refused. */
function isPolicyUnchanged({ events }: Played, task: Record<string, unknown>): boolean {
  const start = events.find((event) => event.type === 'run_start');
  const names = start?.task.tools.map(({ name }) => name).sort();
  const verdict = events.find((event) => event.type === 'policy_verdict');
  return (
    JSON.stringify(names) === JSON.stringify(Object.keys(task['tools'] ?? {}).sort()) && verdict?.verdict === 'deny'
  );
}
