import { describe, expect, test, vi } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { ahead } from './driver/ahead.ts';
import { casesOf, named } from './driver/cases.ts';
import { runEmitCase } from './driver/emit.ts';
import { remoteImages } from './driver/markdown.ts';

// Each case is a whole run with processes of its own, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const cli = useCli();
const cases = casesOf('emit');
const run = ahead(cases, (one) => runEmitCase(one, cli.path()));

describe('text of others on its way to a log, an output, a summary or an artifact', () => {
  test.each(named(cases))('%s', async (_name, one) => {
    expect(await run(one)).toEqual([]);
  });

  test('the look for images finds those that a page would load, and no others', () => {
    const page =
      'a ![x](https://e.example/1)\n\n<img src="x">\n\n```\n![y](https://e.example/2)\n```\n`![z](u)` \\![w](u)';
    expect(remoteImages(page)).toEqual(['![x](', '<img']);
  });
});
