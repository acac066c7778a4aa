/** One argument of a judged command, after quote removal. */
export interface Arg {
  readonly text: string;
  /** `status` holds `$?` or `$#`; a glob may become several words, a leading one may become an option. */
  readonly kind: 'literal' | 'status' | 'glob' | 'leading_glob';
}

/** A path that the caller's file rules must accept before the command may run. */
export interface PathCheck {
  readonly access: 'read' | 'write';
  readonly path: string;
}

/** What the caller's file rules say about one path. */
export type PathVerdict =
  | { readonly ok: true; readonly resolved: string }
  | { readonly ok: false; readonly reason: string };

/** The caller's file rules; `cwd` is what `directory` resolved to, or the text handed to `judgeShell`. */
export interface PathJudge {
  read(path: string, cwd: string): Promise<PathVerdict>;
  write(path: string, cwd: string): Promise<PathVerdict>;
  directory(path: string, cwd: string): Promise<PathVerdict>;
}

/** Verdict over one simple command; `narrowest_rule` is the tightest rule that would allow it, if one can. */
export interface JudgedCommand {
  readonly argv: readonly string[];
  readonly text: string;
  readonly verdict: 'allow' | 'deny';
  readonly rule?: string;
  readonly reason?: string;
  readonly narrowest_rule?: string;
}

/** Verdict over a whole text; `script` is what may run, and nothing else. */
export type ShellJudgement =
  | {
      readonly allowed: true;
      readonly script: string;
      readonly commands: readonly JudgedCommand[];
      readonly effect: 'read' | 'write';
    }
  | {
      readonly allowed: false;
      readonly reason: string;
      readonly commands: readonly JudgedCommand[];
      readonly suggestion?: string;
    };

/** Something about one argument that a trailing star does not admit; with `checks` the file rules may clear it. */
export interface Finding {
  readonly index: number;
  readonly reason: string;
  readonly checks?: readonly PathCheck[];
}

/** An argument list that a launcher would run; `index` is the place of its program in the outer list. */
export interface Wrapped {
  readonly index: number;
  readonly args: readonly Arg[];
}

/** What the danger table knows about an argument list. */
export interface Inspection {
  readonly findings: readonly Finding[];
  readonly wrapped: readonly Wrapped[];
  /** Shell text that the command would run, such as the operand of `sh -c`. */
  readonly script?: { readonly index: number; readonly text: string };
  /** The command runs other commands, so deny rules look at every later word. */
  readonly launches: boolean;
}

/** A literal argument. */
export function literal(text: string): Arg {
  return { text, kind: 'literal' };
}
