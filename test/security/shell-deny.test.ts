import { describe, expect, test, vi } from 'vitest';
import { casesOf } from './driver/cases.ts';
import { runToolCase } from './driver/tool-case.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 30_000 });

describe('shell text that hides a command', () => {
  test.each(casesOf('chain', 'substitution', 'expansion', 'redirect', 'state', 'builtin-eval', 'chars'))(
    '%s',
    async (_name, one) => {
      expect((await runToolCase(one)).problems).toEqual([]);
    },
  );
});
