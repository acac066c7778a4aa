import { describe, expect, test } from 'vitest';
import { PROMPTS } from '../../src/core/prompt-names.ts';
import { DEFAULTS } from '../../src/prompts/defaults.ts';
import { createPrompts } from '../../src/prompts/texts.ts';
import type { PromptName } from '../../src/core/prompt-names.ts';

const NAMES = Object.keys(PROMPTS) as PromptName[];

function byDefault(name: PromptName, sample: object): string {
  return (DEFAULTS[name] as (values: object) => string)(sample);
}

describe('every text', () => {
  test.each(NAMES)('%s has a default that says something with each of its samples', (name) => {
    for (const sample of PROMPTS[name].samples) {
      expect(byDefault(name, sample)).toMatch(/\S/);
      expect(Object.keys(sample).toSorted()).toEqual(Object.keys(PROMPTS[name].variables).toSorted());
    }
  });

  test.each(NAMES)('%s says what a template in its place says', async (name) => {
    const variables = Object.keys(PROMPTS[name].variables);
    const template = `替換 🧪 ${variables.map((variable) => `{{ ${variable} | json }}`).join(' ')}`;
    const { replaced } = await createPrompts({ [name]: template });
    expect(Object.keys(replaced)).toEqual([name]);
    const values = PROMPTS[name].samples[0] as Record<string, unknown>;
    expect(replaced[name]).toBe(`替換 🧪 ${variables.map((key) => JSON.stringify(values[key])).join(' ')}`.trim());
  });
});

describe('a replaced text', () => {
  test('leaves the others as they are', async () => {
    const ours = await createPrompts();
    const theirs = await createPrompts({ limit_reminder: 'Stop now: {{ reason }}.' });
    const hit = { reason: 'max_turns' as const, limit: 3, used: 3 };
    expect(theirs.texts.limitReminder(hit, 'text')).toBe('Stop now: max_turns.');
    expect(theirs.texts.emptyReply()).toBe(ours.texts.emptyReply());
    expect(theirs.system('text', null)).toBe(ours.system('text', null));
  });

  test('may loop and choose', async () => {
    const { texts } = await createPrompts({
      output_repair:
        '{% for issue in issues %}{{ issue.path }}={{ issue.message }};{% endfor %}{% if attempts_left == 1 %} last{% endif %}',
    });
    const check = { ok: false, kind: 'invalid' as const, issues: [{ pointer: '', message: 'no' }] };
    expect(texts.outputRepair(check, 1)).toBe('(root)=no; last');
  });

  test('inserts a value once and never reads it as a template', async () => {
    const { texts } = await createPrompts({ compaction_summary: 'S: {{ summary }}' });
    expect(texts.compactionSummary('{{ summary }} {% if %}')).toBe('S: {{ summary }} {% if %}');
  });

  test('gives way to ours where it fails on the values of a run', async () => {
    const ours = await createPrompts();
    const { texts } = await createPrompts({
      compaction_summary:
        '{% assign n = summary | size %}{% if n > 100 %}{{ summary.nope }}{% endif %}{% if n < 100 %}s{% endif %}',
    });
    expect(texts.compactionSummary('short')).toBe('s');
    expect(texts.compactionSummary('x'.repeat(200))).toBe(ours.texts.compactionSummary('x'.repeat(200)));
  });

  test('of a tool leaves its name and schema alone', async () => {
    const { described } = await createPrompts({ tool_description: '{{ tool }}: {{ description }} 慎重に。' });
    const tool = { name: 'read_file', description: 'Reads.', input_schema: { type: 'object' } };
    expect(described(tool)).toEqual({ ...tool, description: 'read_file: Reads. 慎重に。' });
  });

  test('of a result names the tags that no result may hold', async () => {
    const { protocol } = await createPrompts({ tool_result: '<Output of="{{ tool }}"><b>{{ output }}</b></Output>' });
    expect(protocol.tags).toEqual(['Output', 'b']);
  });
});
