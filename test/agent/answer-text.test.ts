import { describe, expect, test } from 'vitest';
import { answerText } from '../../src/agent/answer-text.ts';
import { modelConfig } from '../model/setup.ts';
import type { ModelConfig } from '../../src/core/config.ts';

const OPENAI = modelConfig({ provider: 'openai' });
const said = (text: string, model: ModelConfig | undefined = OPENAI): string =>
  answerText([{ type: 'text', text }], model);

describe('the answer of a model that thinks in its text', () => {
  test.each([
    ['nothing when it only thought', '<think>\nIt is 3.\n</think>\n', ''],
    ['nothing when its thinking does not end', ' <thinking>It is 3.', ''],
    ['nothing when the template began its only thought', 'It is 3.\n</think>\n', ''],
    ['nothing when such a thought ends in its line', 'It is 3.</think>\n', ''],
    ['what follows its thinking', '<think>\n{"n":1}\n</think>\n\nIt is 3.\n', 'It is 3.\n'],
    ['what follows all of its thoughts', '<think>a</think>\n<think>b</think>It is 3.', 'It is 3.'],
    ['what follows thoughts in one line', '<think>a</think><think>b</think> It is 3.', 'It is 3.'],
    ['nothing when the second of its thoughts does not end', '<think>a</think> <think>It is 3.', ''],
    ['all but the thoughts between its words', 'Hm.\n<think>{"n":1}</think>\nIt is 3.', 'Hm.\n\nIt is 3.'],
    ['what follows a thought with a fence in it', '<think>\n```\n</think>\n<think>a</think>It is 3.', 'It is 3.'],
    ['what follows thinking that the template began', 'Is it 3?\n\n</think>\n\nIt is 3.', 'It is 3.'],
  ])('is %s', (_what, text, answer) => {
    expect(said(text)).toBe(answer);
  });

  test.each([
    ['words', '  It is 3.\n'],
    ['words about the tags', 'The tag <think> begins it.\n</think>\nends it.'],
    ['a fence with the tags', 'As in:\n```\n</think>\n```\nand so on.'],
    ['a fence with thinking', 'As in:\n```\n<think>\na\n</think>\n```\nand so on.'],
    ['words before thinking that does not end', 'Hm.\n<think>\na'],
    ['JSON with the tags in a text', '{"note": "</think> ends it", "tag": "<think>"}'],
    ['an end in the middle of a sentence', 'The template adds </think> to it.'],
  ])('is all of %s', (_what, text) => {
    expect(said(text)).toBe(text);
  });
});

test('an answer is found in one pass over any text', () => {
  const began = performance.now();
  for (const part of ['\n', ' \n', '</think> ', '<think>', '<think></think>', '```\n'])
    said(`x${part.repeat(200_000)}\n</think>\ny`);
  // A fraction of a second where this was written; what goes back at each line takes minutes.
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('Claude thinks apart, so such tags in its text are text, unless it is a fallback of another or calls in text', () => {
  const text = '<think>a</think>b';
  expect(said(text, modelConfig())).toBe(text);
  expect(answerText([{ type: 'text', text }], undefined)).toBe(text);
  expect(said(text, modelConfig({ tool_protocol: 'xml' }))).toBe('b');
  expect(said(text, modelConfig({ fallback: [OPENAI] }))).toBe('b');
});
