import { expect, test } from 'vitest';
import { atService } from '../../src/model/at-service.ts';
import { modelConfig } from './setup.ts';

const claude = (overrides: object, env = {}): boolean | undefined => atService(modelConfig(overrides), env).claude_api;

test('the Claude API answers where no other address is given, or where the task says so', () => {
  expect(claude({})).toBe(true);
  expect(claude({ base_url: 'https://api.anthropic.com/' })).toBe(true);
  expect(claude({}, { ANTHROPIC_BASE_URL: 'https://gateway.example' })).toBe(false);
  expect(claude({ base_url: 'https://gateway.example' })).toBe(false);
  expect(claude({ base_url: 'https://gateway.example', claude_api: true })).toBe(true);
  expect(claude({ claude_api: false })).toBe(false);
  expect(claude({}, { ANTHROPIC_BASE_URL: 'nonsense' })).toBe(false);
});

test('other providers are not asked, and every fallback is', () => {
  const fallback = [modelConfig(), modelConfig({ provider: 'script' })];
  const { fallback: placed, claude_api } = atService(modelConfig({ provider: 'script', fallback }), {});
  expect(claude_api).toBeUndefined();
  expect(placed.map((model) => model.claude_api)).toEqual([true, undefined]);
});
