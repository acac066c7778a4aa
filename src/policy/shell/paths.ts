import type { Arg, Finding, PathCheck } from './judgement.ts';

const DEVICES = /^(?:-|\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+))$/;
const PROTECTED =
  /^(?:\.git|\.github|\.gitattributes|\.gitmodules|\.mcp\.json|\.claude|\.codex|\.gemini|agents\.md|claude\.md|gemini\.md)$/i;

/** Whether a path names no file: a dash for the standard streams, or a harmless device. */
export function isDevice(path: string): boolean {
  return DEVICES.test(path);
}

/** Whether a relative path stays below its folder, judged by its text alone. */
export function staysInside(path: string): boolean {
  return !path.startsWith('/') && !path.split('/').includes('..');
}

/** Whether a path has a component that no wildcard may grant a write to. */
export function isProtected(path: string): boolean {
  return path.split('/').some((component) => PROTECTED.test(component));
}

/** The finding for an operand that a program prints: only paths that leave the folder need the file rules. */
export function readFinding(arg: Arg, index: number, program: string): Finding | undefined {
  if (isDevice(arg.text) || staysInside(arg.text)) return undefined;
  return pathFinding(arg, index, { access: 'read', path: arg.text }, `${program} would read outside the workspace`);
}

/** The finding for an operand that a program writes: the file rules must always accept it. */
export function writeFinding(arg: Arg, index: number, program: string): Finding | undefined {
  if (isDevice(arg.text)) return undefined;
  return pathFinding(arg, index, { access: 'write', path: arg.text }, `${program} would write it`);
}

/** The finding for an operand that a program changes by design: outside and protected paths need the file rules. */
export function guardFinding(arg: Arg, index: number, program: string): Finding | undefined {
  if (isDevice(arg.text) || (staysInside(arg.text) && !isProtected(arg.text))) return undefined;
  return pathFinding(
    arg,
    index,
    { access: 'write', path: arg.text },
    `${program} would change a protected or outside path`,
  );
}

function pathFinding(arg: Arg, index: number, check: PathCheck, what: string): Finding {
  const reason = `${JSON.stringify(arg.text)}: ${what}`;
  // What a glob names is not known before it runs, so no file rule can clear it.
  return arg.kind === 'literal' ? { index, reason, checks: [check] } : { index, reason };
}
