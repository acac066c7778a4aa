import { describe, expect, test } from 'vitest';
import { liveArea, wantsColor } from '../../src/cli/terminal.ts';
import { mergeOptions } from '../../src/config/merge.ts';
import type { World } from '../../src/cli/world.ts';

function world(env: Record<string, string>, is_terminal = true): World {
  const output = { write: () => {}, flush: async () => true, is_terminal, columns: () => 80 };
  return { env, cwd: '/', stdout: output, stderr: output, stdin: (async function* () {})() };
}

describe('colours', () => {
  test.each([
    [{}, {}, true, true],
    [{}, {}, false, false],
    [{}, { NO_COLOR: '1' }, true, false],
    [{}, { TERM: 'dumb' }, true, false],
    [{ color: 'always' }, { NO_COLOR: '1' }, false, true],
    [{ color: 'never' }, {}, true, false],
  ])('with %j and %j on a terminal (%j): %j', (flags, env, terminal, wanted) => {
    expect(wantsColor(mergeOptions(flags, {}), world(env, terminal))).toBe(wanted);
  });
});

describe('lines that are redrawn', () => {
  test.each([
    [{}, {}, true, true],
    [{}, {}, false, false],
    [{}, { CI: 'true' }, true, false],
    [{}, { TERM: 'dumb' }, true, false],
    [{}, { NO_COLOR: '1' }, true, true],
    [{ quiet: true }, {}, true, false],
    [{ verbose: true }, {}, true, false],
  ])('with %j and %j on a terminal (%j): %j', (flags, env, terminal, wanted) => {
    expect(liveArea(mergeOptions(flags, {}), world(env, terminal)) !== undefined).toBe(wanted);
  });
});
