import type { ModelConfig } from '../core/config.ts';
import { textOf, type AssistantBlock } from '../core/messages.ts';

const BEGINS_WITH = /^\s*<think(?:ing)?>/;
/** A fence, or thinking that begins with its line. */
const FENCE_OR_BEGIN = /^[^\S\n]*(?:(?:```|~~~)|<think(?:ing)?>)/gm;
/** Thinking right behind other thinking. */
const NEXT = /\s*<think(?:ing)?>/y;
const END = /<\/think(?:ing)?>/g;
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
  const rest = withoutThoughts(text);
  if (BEGINS_WITH.test(rest)) return ''; // it never came to an answer
  // The template wrote the beginning: what is left has an end only, and in no code.
  const end = LONE_END.exec(rest);
  const before = rest.slice(0, end?.index ?? 0);
  const begun = /<think(?:ing)?>/.test(before) || (before.match(FENCE_LINE)?.length ?? 0) % 2 === 1;
  const answer = end && !begun ? rest.slice(end.index + end[0].length) : rest;
  return answer === text ? text : answer.trimStart();
}

/** Without what has a beginning, at that of a line or behind another thought and in no code, and an end. */
function withoutThoughts(text: string): string {
  const begins = new RegExp(FENCE_OR_BEGIN);
  const kept: string[] = [];
  let from = 0;
  let fenced = false;
  for (let match = begins.exec(text); match; match = begins.exec(text)) {
    const begun = match[0].endsWith('>');
    if (!begun) fenced = !fenced;
    if (!begun || fenced) continue;
    const end = endOfThoughts(text, begins.lastIndex);
    if (end === undefined) break;
    kept.push(text.slice(from, match.index));
    from = end;
    begins.lastIndex = end;
  }
  return kept.join('') + text.slice(from);
}

/** Where the last of the thoughts ends that follow each other without words; undefined: the first one does not end. */
function endOfThoughts(text: string, begun: number): number | undefined {
  const ends = new RegExp(END);
  const next = new RegExp(NEXT);
  let found: number | undefined;
  for (let at = begun; ; at = next.lastIndex) {
    ends.lastIndex = at;
    if (!ends.test(text)) return found;
    found = ends.lastIndex;
    next.lastIndex = found;
    if (!next.test(text)) return found;
  }
}
