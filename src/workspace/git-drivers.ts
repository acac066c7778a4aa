import type { GitSetting } from './git-env.ts';
import { quickGit } from './git-quick.ts';
import type { GitCall } from './git-run.ts';

// What a repository's configuration may name a program with, and what stands in its place: an empty filter is no
// filter; elsewhere `false` lets the one command fail that would have started the program.
const REPLACEMENTS: readonly [name: RegExp, value: string][] = [
  [/^filter\..+\.(?:clean|smudge|process)$/, ''],
  [/^filter\..+\.required$/, 'false'],
  [/^diff\.(?:external$|.+\.(?:command|textconv)$)/, 'false'],
  [/^merge\..+\.driver$/, 'false'],
  [/^(?:difftool|mergetool|trailer|tar|browser|man)\..+\.(?:cmd|command|path)$/, 'false'],
  [/^gpg\.(?:.+\.)?program$/, 'false'],
  [/^gpg\.ssh\.defaultkeycommand$/, 'false'],
  [/^(?:core\.(?:editor|gitproxy|alternaterefscommand)|sequence\.editor)$/, 'false'],
  [/^interactive\.difffilter$/, 'cat'],
  [/^pager\..+$/, 'false'],
  [/^credential\.(?:.+\.)?helper$/, ''],
  [/^remote\..+\.uploadpack$/, 'git-upload-pack'],
  [/^remote\..+\.receivepack$/, 'git-receive-pack'],
  [/^submodule\..+\.update$/, 'none'],
];

/** Settings that switch off the programs named in the configuration of the repository at `call.cwd`; [] without one. */
export async function readDrivers(call: GitCall): Promise<GitSetting[]> {
  const answer = await quickGit(call, ['config', '--null', '--name-only', '--list']);
  const names = new Set(answer.stdout.toString('utf8').split('\0'));
  return [...names].flatMap((name) => {
    const value = REPLACEMENTS.find(([pattern]) => pattern.test(name))?.[1];
    return value === undefined ? [] : [[name, value] as const];
  });
}
