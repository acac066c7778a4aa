import { describe, expect, test, vi } from 'vitest';
import { ahead } from './driver/ahead.ts';
import { casesOf, named } from './driver/cases.ts';
import { runToolCase } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cases = casesOf('wrapper', 'git-arg', 'prog-arg', 'match', 'glob-option');
const run = ahead(cases, (one) => runToolCase(one));

describe('arguments of allowed programs', () => {
  test.each(named(cases))('%s', async (_name, one) => {
    expect((await run(one)).problems).toEqual([]);
  });
});
