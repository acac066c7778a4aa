import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** True when a program named without a folder lies in none of the PATH that tools are given; a path is not looked at. */
export function isMissing(program: string, env: Readonly<Record<string, string>>): boolean {
  // On Windows a name stands for several files; there a start that fails has to tell.
  if (process.platform === 'win32' || program === '' || program.includes('/')) return false;
  return !(env['PATH'] ?? '').split(delimiter).some((folder) => isProgram(join(folder, program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // ENOENT, EACCES, ENOTDIR: not here.
    return false;
  }
}
