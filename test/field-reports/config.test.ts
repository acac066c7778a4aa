import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { play } from './harness.ts';
import { KEY } from './place.ts';

describe('a key', () => {
  test('B191: pasted with a newline at its end is trimmed and works', async () => {
    const run = await play({ env: { ANTHROPIC_API_KEY: ` ${KEY}\r\n` }, replies: ['done'] });
    expect(run.code).toBe(0);
    expect(run.turns[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each(['\n', '\r\n', '\u0000', '\u0007', '\u200b'])(
    'B191: with the character %j inside is a config error that shows nothing of it',
    async (inside) => {
      const halves = ['sk-ant-first-half-0123456789', 'second-half-9876543210'];
      const run = await play({ env: { ANTHROPIC_API_KEY: halves.join(inside) }, canaries: halves });
      expect(run.result).toMatchObject({ exit_reason: 'config_error', exit_code: 2 });
      expect(run.stderr).toContain('ANTHROPIC_API_KEY');
    },
  );

  test('B191: that is missing or empty is a config error before the first request', async () => {
    const run = await play({ env: { ANTHROPIC_API_KEY: '  ' } });
    expect(run.result).toMatchObject({ exit_reason: 'config_error', exit_code: 2 });
  });
});

describe('a model', () => {
  test('B193: that the service does not know is shown with its kind, address and the service’s own words', async () => {
    const run = await play({
      model: { id: 'claude-sonet-5-5' },
      server: { models: { 'claude-sonet-5-5': {} } },
      replies: [reply.error(404, 'not_found_error', { message: 'model: claude-sonet-5-5 (own words)' })],
    });
    expect(run.code).toBe(6);
    const { message } = run.result;
    expect(message).toContain('anthropic at http://127.0.0.1:');
    expect(message).toContain('claude-sonet-5-5 (own words)');
    expect(message).not.toMatch(/did you mean/i);
  });

  test.each([0, -1, 1.5, 200_000])(
    'B195: with the cap %d is a config error that names the range',
    async (max_tokens) => {
      const run = await play({ model: { max_tokens } });
      expect(run.result).toMatchObject({ exit_reason: 'config_error', exit_code: 2 });
      expect(run.stderr).toContain('max_tokens');
    },
  );

  test.each(['thinking', 'temperature', 'budget_tokens'])(
    'B195: with the field %s, which would be wrong on every call, is a config error',
    async (field) => {
      const run = await play({
        model: { [field]: field === 'thinking' ? { type: 'enabled', budget_tokens: 500 } : 500 },
      });
      expect(run.result).toMatchObject({ exit_reason: 'config_error', exit_code: 2 });
      expect(run.stderr).toContain(field);
    },
  );
});
