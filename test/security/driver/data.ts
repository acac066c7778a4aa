import { checkProblem, leakProblem, originalsOf, type Scene } from './checks.ts';
import { fillAll, closeFixture, makeFixture, type Fixture } from './fixture.ts';
import { playHere, type Played, type Start } from './play.ts';
import type { SecurityCase } from './cases.ts';

/** The model answers with the case's value, and the task asks for the case's schema. */
export async function runSchemaCase(one: SecurityCase): Promise<string[]> {
  return withFixture((fixture) => playSchema(one, fixture));
}

async function withFixture(play: (fixture: Fixture) => Promise<string[]>): Promise<string[]> {
  const fixture = await makeFixture();
  try {
    return await play(fixture);
  } finally {
    closeFixture(fixture);
  }
}

async function playSchema(one: SecurityCase, fixture: Fixture): Promise<string[]> {
  const { schema, output, outputText } = fillAll(fixture, one.input);
  const text = typeof outputText === 'string' ? outputText : JSON.stringify(output);
  const task = {
    prompt: 'Answer.',
    output: { schema, repair_attempts: 0 },
    model: { provider: 'script', id: 'script', script: { turns: [{ text }] } },
  };
  const played = await playHere(fixture, { task: JSON.stringify(task) });
  const verdict = played.exit_code === 0 ? 'allow' : 'deny';
  const unsaid = verdict === 'deny' && !saysWhy(played) ? 'refused without a reason' : undefined;
  const wrong =
    one.expected !== 'contained' && verdict !== one.expected ? `was: ${verdict}, ${lastWords(played)}` : undefined;
  return problemsOf(one, fixture, played, [unsaid, wrong, ...unexpectedEnd(played)]);
}

/** Only the endings that a schema and a value can have. */
function unexpectedEnd(played: Played): string[] {
  return [0, 2, 3].includes(played.exit_code) ? [] : [`ended with ${played.exit_code}: ${lastWords(played)}`];
}

/** Task files whose text is the case's. */
export async function runTaskCase(one: SecurityCase): Promise<string[]> {
  const { text, textRepeat, times } = one.input;
  const raw = typeof text === 'string' ? text : String(textRepeat).repeat(Number(times));
  return runTaskText(one, raw);
}

/** A task of which nothing may start. */
export async function runTaskText(one: SecurityCase, task: string, start: Omit<Start, 'task'> = {}): Promise<string[]> {
  return withFixture(async (fixture) => {
    const played = await playHere(fixture, { task, ...start });
    const refused = played.exit_code === 2 && saysWhy(played) && played.events.length === 0;
    return problemsOf(one, fixture, played, [refused ? undefined : `was not refused: ${lastWords(played)}`]);
  });
}

function saysWhy({ refused, files }: Played): boolean {
  return (refused ?? files['result.json'] ?? '').length > 10;
}

function lastWords({ exit_code, refused, files }: Played): string {
  return `${exit_code} ${refused ?? files['result.json'] ?? ''}`;
}

function problemsOf(
  one: SecurityCase,
  fixture: Fixture,
  played: Played,
  first: readonly (string | undefined)[],
): string[] {
  const scene: Scene = { fixture, played, originals: originalsOf(one.check, fixture) };
  const checks = (one.check ?? []).map((check) => checkProblem(check, scene));
  return [...first, leakProblem(scene), ...checks].filter((problem) => problem !== undefined);
}
