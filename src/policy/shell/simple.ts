import type { Command } from 'unbash';
import { programName } from './danger-table.ts';
import type { Decision } from './decide.ts';
import { decide, describeCommand } from './decide.ts';
import { isReading } from './effect.ts';
import { findBadCharacter } from './characters.ts';
import type { Arg, PathCheck, PathVerdict } from './judgement.ts';
import { HARDENING, hardenedPlace } from './git.ts';
import { inspect } from './inspect.ts';
import { parseShell } from './parse.ts';
import type { Cwds, Judged, Walk } from './walk-state.ts';
import type { JudgedWord } from './words.ts';
import { judgeWord, quote } from './words.ts';

// dash has its own echo, printf and test, which differ from bash's; the programs do not.
const EXTERNAL = new Set(['echo', 'printf', 'test', '[']);
const MOVES = new Set(['eval', '.', 'source', 'exec', 'pushd', 'popd', 'command', 'builtin']);
const MAX_INNER = 3;

const REFUSED: Pick<Judged, 'emit'> = { emit: 'false' };

type Simple = Pick<Judged, 'emit' | 'ok' | 'fail'>;

/** Judges one simple command: its words, its rule, the paths and scripts it names, and where it leaves the shell. */
export async function judgeSimple(node: Command, cwds: Cwds, walk: Walk): Promise<Simple> {
  const text = walk.source.slice(node.pos, node.end);
  const stay = { ...REFUSED, ok: cwds, fail: cwds };
  const words: JudgedWord[] = [];
  const sources = [...(node.name === undefined ? [] : [node.name]), ...node.args];
  for (const source of sources) {
    const word = source.type === 'Word' ? judgeWord(source) : { refused: 'an assignment' };
    if ('refused' in word) {
      walk.refusals.push(word.refused);
      const argv = sources.map((other) => other.text);
      walk.commands.push({ argv, text, verdict: 'deny', reason: word.refused });
      return stay;
    }
    words.push(word);
  }
  if (words.length === 0) {
    walk.refusals.push('a redirect without a command');
    return stay;
  }
  const decided = decide(words, walk.rules);
  const outcome = decided.allowed ? await meetConditions(words, decided, { cwds, walk }) : { decision: decided, words };
  walk.commands.push(describeCommand(words, text, outcome.decision));
  if (!outcome.decision.allowed) {
    walk.refusals.push(outcome.decision.reason);
    return stay;
  }
  if (!isReading(words)) walk.writes = true;
  if (words[0]?.text === 'cd') return moveTo(words, cwds, walk);
  const after = MOVES.has(words[0]?.text ?? '') && moves(words) ? [] : cwds;
  return { emit: emitCommand(outcome.words), ok: after, fail: after };
}

/** Builtins that may change the folder in a way nobody tracks: only an exact rule lets them this far. */
function moves(words: readonly JudgedWord[]): boolean {
  const name = words[0]?.text;
  return (name !== 'command' && name !== 'builtin') || words.some((word) => word.text === 'cd' || MOVES.has(word.text));
}

interface Place {
  readonly cwds: Cwds;
  readonly walk: Walk;
}

interface Outcome {
  readonly decision: Decision;
  readonly words: readonly JudgedWord[];
}

/** Asks the file rules about every path, and judges shell text inside an argument like the outer one. */
async function meetConditions(
  words: readonly JudgedWord[],
  decision: Decision & { allowed: true },
  place: Place,
): Promise<Outcome> {
  const { cwds, walk } = place;
  const refuse = (reason: string): Outcome => ({ decision: { allowed: false, reason }, words });
  if (decision.checks.length > 0 && cwds.length === 0) return refuse('the folder it would run in is not known');
  for (const check of decision.checks) {
    for (const cwd of cwds) {
      const verdict = await askPath(check, cwd, walk);
      if (!verdict.ok) return refuse(`the rule "${decision.rule}" does not cover ${check.path}: ${verdict.reason}`);
    }
  }
  const written = [...words];
  for (const { index, text } of decision.scripts) {
    const inner = await judgeInner(text, place);
    if ('refused' in inner) return refuse(`the inner script: ${inner.refused}`);
    written[index] = { text, kind: 'literal', emit: quote(inner.script) };
  }
  return { decision, words: written };
}

/** A folder inside is readable where a file would be: `grep -r x FOLDER` names one. */
async function askPath({ access, path }: PathCheck, cwd: string, walk: Walk): Promise<PathVerdict> {
  const verdict = await walk.paths[access](path, cwd);
  if (verdict.ok || access === 'write') return verdict;
  const folder = await walk.paths.directory(path, cwd);
  return folder.ok ? folder : verdict;
}

async function judgeInner(
  text: string,
  { cwds, walk }: Place,
): Promise<{ readonly script: string } | { readonly refused: string }> {
  if (walk.depth >= MAX_INNER) return { refused: 'shells are nested too deeply' };
  const bad = findBadCharacter(text);
  if (bad !== undefined) return { refused: bad };
  const parsed = await parseShell(text);
  if ('refused' in parsed) return parsed;
  const inner: Walk = { ...walk, source: text, refusals: [], depth: walk.depth + 1 };
  const judged = await walk.nested(parsed.commands, cwds, inner);
  const refused = inner.refusals[0] ?? (parsed.commands.length === 0 ? 'there is no command in it' : undefined);
  return refused === undefined ? { script: judged.script } : { refused };
}

/** `cd`: one literal folder that the file rules accept from every folder the shell may be in. */
async function moveTo(words: readonly JudgedWord[], cwds: Cwds, walk: Walk): Promise<Simple> {
  const stay = { ...REFUSED, ok: cwds, fail: cwds };
  const refuse = (why: string): Simple => {
    walk.refusals.push(`cd ${why}`);
    return stay;
  };
  const operands = words.slice(/^(?:--|-[LP])$/.test(words[1]?.text ?? '') ? 2 : 1);
  const target = operands[0];
  if (target === undefined || operands.length > 1) return refuse('must name one folder');
  if (target.kind !== 'literal' || target.text === '' || target.text.startsWith('-'))
    return refuse(`${target.text}: the folder must be a literal path`);
  if (cwds.length === 0) return refuse('from a folder that is not known');
  const reached: string[] = [];
  for (const cwd of cwds) {
    const verdict = await walk.paths.directory(target.text, cwd);
    if (!verdict.ok) return refuse(`${target.text}: ${verdict.reason}`);
    reached.push(verdict.resolved);
  }
  const path = target.text.startsWith('/') ? target.text : `./${target.text}`;
  // -P: later paths are judged from the real folder, so `..` must mean its real parent.
  return { emit: `'cd' -P -- ${quote(path)}`, ok: [...new Set(reached)], fail: cwds };
}

function emitCommand(words: readonly JudgedWord[]): string {
  const name = words[0]?.text ?? '';
  // `command` only skips functions, and there are none; without it the same programs run as below.
  if (name === 'command' && words.length > 1 && words[1]?.text.startsWith('-') === false)
    return emitCommand(words.slice(1));
  if (name === 'echo' && words.length === 2 && /^--(?:help|version)$/.test(words[1]?.text ?? '')) {
    return `${quote('/usr/bin/printf')} '%s\\n' ${words[1]?.emit ?? ''}`;
  }
  // In dash a redirect that fails ends the script behind `:`, but not behind true.
  if (name === ':') return ['true', ...words.slice(1).map((word) => word.emit)].join(' ');
  if (EXTERNAL.has(name)) return [quote(`/usr/bin/${name}`), ...words.slice(1).map((word) => word.emit)].join(' ');
  const written = words.map((word) => word.emit);
  // From the last to the first, so that earlier places stay right.
  for (const place of hardenedPlaces(words).sort((one, two) => two - one))
    written.splice(place, 0, ...HARDENING.map(quote));
  return written.join(' ');
}

/** Where git log, diff and show, also behind a launcher, take the options that keep a repository's helpers off. */
function hardenedPlaces(args: readonly Arg[]): number[] {
  if (programName(args[0]?.text ?? '') === 'git') return hardenedPlace(args);
  return inspect(args).wrapped.flatMap((list) => hardenedPlaces(list.args).map((place) => place + list.index));
}
