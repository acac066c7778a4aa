import { describe, expect, test } from 'vitest';
import { pageTemplateError, renderPage } from '../../src/core/page-template.ts';

const NAMES = { run: ['status'], output: null, findings: null };
const LOUD = '<img src=x>![a](https://e.example) @octocat <!-- x -->\n# h `b`';

async function page(text: string, scope: Parameters<typeof renderPage>[1]): Promise<string> {
  const rendered = await renderPage(text, scope);
  return rendered.ok ? rendered.text : `error: ${rendered.error.message}`;
}

describe('a page', () => {
  test('loops over values and shows what is missing as nothing', async () => {
    const findings = [{ path: 'a.ts' }, {}];
    expect(await page('{% for f in findings %}[{{ f.path }}]{% endfor %}', { findings })).toBe(String.raw`[a.ts][]`);
  });

  test.each(['{{ output.x }}', '{% assign y = output.x %}{{ y }}', '{{ output.x | strip }}', '{{ output }}'])(
    'escapes what %s shows',
    async (text) => {
      const shown = await page(text, { output: { x: LOUD } });
      expect(shown).not.toMatch(/<img|<!--|!\[|(?<!\\)`|@octocat|:\/\//);
      expect(shown).toContain('&lt;img');
    },
  );

  test('shows code that cannot end itself', async () => {
    expect(await page('{{ output | code }}', { output: 'a`b``<i>' })).toBe('``` a`b``<i> ```');
    expect(await page('{{ output | block }}', { output: '```\n@x' })).toBe('````\n```\n@x\n````');
  });

  test.each([
    ['{{ output | raw }}', 'undefined filter: raw'],
    ['{% echo output %}', 'tag "echo" not found'],
    ['{% include "/etc/passwd" %}', 'tag "include" not found'],
    ['{% capture x %}{{ output }}{% endcapture %}', 'tag "capture" not found'],
    ['{{ rum.status }}', '"rum" does not exist in this template; expected one of run, output, findings'],
    ['{% if run.state %}{% endif %}', '"run.state" does not exist in this template; expected one of status'],
    ['\n  {{ run.status ', 'not closed'],
  ])('refuses %s before any run', async (text, message) => {
    const error = await pageTemplateError(text, NAMES);
    expect(error?.message).toContain(message);
    expect(error?.line).toBe(text.startsWith('\n') ? 2 : 1);
  });

  test('takes every name of an output', async () => {
    expect(await pageTemplateError('{{ output.summary }}{{ run.status }}', NAMES)).toBeUndefined();
  });
});
