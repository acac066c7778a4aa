// Node 24, the Action's runtime: npm brings it into tools/node24 when it is first asked for.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOOLS = fileURLToPath(new URL('../tools/node24', import.meta.url));
/** The folder that leads PATH for those who want this Node. */
export const NODE24_BIN = join(TOOLS, 'node_modules/.bin');

/** The path of the program; throws when it is missing and npm cannot bring it. */
export function node24() {
  const node = join(NODE24_BIN, 'node');
  if (existsSync(node)) return node;
  const npm = process.env['npm_execpath'];
  const [command, ...args] = npm ? [process.execPath, npm] : ['npm'];
  const { status, error } = spawnSync(command, [...args, 'ci', '--prefix', TOOLS], { stdio: ['ignore', 2, 'inherit'] });
  if (status !== 0) throw new Error(`npm could not install Node 24: ${error?.message ?? `exit ${status}`}`);
  return node;
}
