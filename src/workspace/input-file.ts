import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A descriptor to read the text from; its file has no name any more. Node's own pipes are sockets: a program cannot open
 * /dev/stdin then, and bash takes a socket for a remote login and reads its startup file.
 */
export function openInput(text: string): { descriptor: number; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'agent-run-input-'));
  try {
    const file = join(folder, 'input');
    writeFileSync(file, text, { mode: 0o600 });
    const descriptor = openSync(file, 'r');
    return { descriptor, close: () => closeSync(descriptor) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
