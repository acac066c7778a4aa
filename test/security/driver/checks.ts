import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { processesWith } from '../../helpers/processes.ts';
import { fill, type Fixture } from './fixture.ts';
import { factsOf } from './verdict.ts';
import type { Check } from './cases.ts';
import type { Played } from './play.ts';

export interface Scene {
  fixture: Fixture;
  played: Played;
  /** Texts of the files that a check wants unchanged, from before the call. */
  originals: ReadonlyMap<string, string | undefined>;
  /** What the emit cases handed on, line by line as a CI system splits it. */
  emitted?: string;
}

type Holds = (scene: Scene, check: Required<Pick<Check, 'path' | 'text'>> & Check) => boolean;

const HOLDS: Readonly<Record<string, Holds>> = {
  noPath: (_scene, { path }) => lstatSync(path, { throwIfNoEntry: false }) === undefined,
  unchanged: ({ fixture, played, originals }, { path }) =>
    path === `${fixture.run_dir}/result.json` ? isOwnResult(played) : read(path) === originals.get(path),
  fileEquals: (_scene, { path, text }) => read(path) === text,
  outputHas: (scene, { text }) => everything(scene).includes(text),
  outputLacks: (scene, { text }) => !everything(scene).includes(text),
  outputMaxBytes: (scene, { bytes = 0 }) => Buffer.byteLength(everything(scene, false)) <= bytes,
  endsWithin: ({ played }, { ms = 0 }) => (factsOf(played).ms ?? played.ms) <= ms,
  memoryBelow: ({ played }, { mb = 0 }) => played.peak_mb !== undefined && played.peak_mb > 0 && played.peak_mb < mb,
  noProcess: (_scene, { marker = '' }) => processesWith(marker).length === 0,
  runnerAlive: ({ played }) => played.exit_code === 0 && afterwards(played) === 'ok',
  noConnection: ({ fixture }) => fixture.listeners.connections.length === 0,
  noDnsQuery: ({ fixture }, { name = '' }) =>
    !fixture.listeners.datagrams.some((datagram) => datagram.includes(fill(fixture, name))),
  noLineMatches: ({ emitted = '' }, { regex = '' }) =>
    emitted !== '' && !emitted.split(/\r\n|\r|\n/).some((line) => new RegExp(regex).test(line)),
  logHas: ({ played }, { text }) => played.log.includes(text),
  noPollution: () => Reflect.ownKeys(Object.prototype).every((key) => BUILTIN.has(key)) && !('polluted' in {}),
};

const BUILTIN = new Set(Reflect.ownKeys(Object.prototype));

/** Why a check does not hold; undefined when it does. */
export function checkProblem(check: Check, scene: Scene): string | undefined {
  const holds = HOLDS[check.type];
  if (!holds) return `the check ${check.type} is not known here; known: ${Object.keys(HOLDS).join(', ')}`;
  const filled = { ...check, path: fill(scene.fixture, check.path ?? ''), text: fill(scene.fixture, check.text ?? '') };
  if (holds(scene, filled)) return undefined;
  const { played } = scene;
  const seen = `result ${factsOf(played).text.slice(0, 500)}; ${Math.round(played.ms)} ms, ${played.peak_mb ?? '?'} MB`;
  return `${JSON.stringify(check)} does not hold: ${seen}`;
}

/** What must hold of every case, whatever it checks itself. */
export function leakProblem(scene: Scene): string | undefined {
  const all = everything(scene);
  const { canary, plain } = scene.fixture;
  if (all.includes(canary)) return 'a secret of the runner stands in the output';
  return all.includes(plain) ? 'a text that only the runner knows stands in the output' : undefined;
}

/** Whatever the model, the log, the transcript, the summary or a file of the run folder gets. */
function everything({ played, emitted }: Scene, stored = true): string {
  const files = Object.entries(played.files).filter(([name]) => stored || !name.startsWith('outputs/'));
  return [played.stdout, played.log, emitted ?? '', ...files.map(([, text]) => text)].join('\n');
}

/** The runner's own result and no forged one. */
function isOwnResult({ files, events }: Played): boolean {
  const result: unknown = JSON.parse(files['result.json'] ?? 'null');
  return typeof result === 'object' && result !== null && 'run_id' in result && result.run_id === events[0]?.run_id;
}

function afterwards({ events }: Played): string | undefined {
  const end = events.find((event) => event.type === 'tool_end' && event.tool_use_id === 'toolu_after');
  return end?.type === 'tool_end' ? end.status : undefined;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** The texts of the files that checks want unchanged. */
export function originalsOf(checks: readonly Check[] = [], fixture: Fixture): Map<string, string | undefined> {
  const paths = checks.filter(({ type }) => type === 'unchanged').map(({ path = '' }) => fill(fixture, path));
  return new Map(paths.map((path) => [path, read(path)]));
}
