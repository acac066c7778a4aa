import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMissing } from '../../src/workspace/programs.ts';
import { tempTree } from '../helpers/temp.ts';

describe('a program that a task names', () => {
  const folder = (): string => {
    const dir = tempTree({ 'run-me': '#!/bin/sh\n', 'only-text': 'x', 'a-folder/x': '' });
    chmodSync(join(dir, 'run-me'), 0o755);
    return dir;
  };

  test.each([
    ['run-me', false],
    ['only-text', true],
    ['a-folder', true],
    ['nowhere', true],
    ['./nowhere', false],
    ['/no/such/path', false],
  ])('%s is missing: %s', (name, missing) => {
    expect(isMissing(name, { PATH: `/no/such/folder:${folder()}` })).toBe(missing);
  });
});
