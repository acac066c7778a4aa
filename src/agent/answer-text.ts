import type { ModelConfig } from '../core/config.ts';
import { textOf, type AssistantBlock } from '../core/messages.ts';

const BEGINS = /^\s*<think(?:ing)?>/;
const ENDS = /<\/think(?:ing)?>/;
/** An end on a line of its own, or with nothing behind it. */
const LONE_END = /^[^\S\n]*<\/think(?:ing)?>[^\S\n]*$|<\/think(?:ing)?>\s*(?![^])/m;
const FENCE_LINE = /^[^\S\n]*(?:```|~~~)/gm;

/**
 * What a reply says: its text without the thinking that models of many endpoints write before it. Claude hands its thinking
 * over apart, and what looks like such tags in its text is text. Undefined `model`: nothing is known, and nothing left out.
 */
export function answerText(content: readonly AssistantBlock[], model: ModelConfig | undefined): string {
  const text = textOf(content);
  return model !== undefined && [model, ...model.fallback].some(thinksInText) ? withoutThinking(text) : text;
}

function thinksInText({ provider, tool_protocol }: Pick<ModelConfig, 'provider' | 'tool_protocol'>): boolean {
  return provider !== 'anthropic' || tool_protocol === 'xml';
}

function withoutThinking(text: string): string {
  let rest = text;
  while (BEGINS.test(rest)) {
    const end = ENDS.exec(rest);
    if (!end) return ''; // it never came to an answer
    rest = rest.slice(end.index + end[0].length);
  }
  // The template wrote the beginning: what is left has an end only, and in no code.
  const end = LONE_END.exec(rest);
  const before = rest.slice(0, end?.index ?? 0);
  const begun = /<think(?:ing)?>/.test(before) || (before.match(FENCE_LINE)?.length ?? 0) % 2 === 1;
  const answer = end && !begun ? rest.slice(end.index + end[0].length) : rest;
  return answer === text ? text : answer.trimStart();
}
