// Images and documents that a service refused although they passed our checks. They stand in the history, so every later
// request would fail as well: from then on words stand in their place.

import { isMedia, mediaOf } from '../core/media.ts';
import type { Message, ResultContent, ResultText, UserBlock, UserMessage } from '../core/messages.ts';
import type { AttemptFailure } from './failure.ts';

export interface UnseenMedia {
  /** The messages as they are sent; the same message always becomes the same one. */
  shown(messages: readonly Message[]): readonly Message[];
  /** After a refusal that speaks of an image or a document: takes those of the newest message out; false when there are none. */
  hide(failure: AttemptFailure, messages: readonly Message[]): boolean;
}

/** What one client has learned; all before the newest message was accepted, so its bytes stay. */
export function createUnseenMedia(): UnseenMedia {
  const replaced = new WeakMap<Message, Message>();
  let any = false;
  return {
    shown: (messages) => (any ? messages.map((message) => replaced.get(message) ?? message) : messages),
    hide({ status, message: text }, messages) {
      if (status !== 400 || !/\b(?:image|pdf|document)s?\b/i.test(text)) return false;
      const newest = messages.findLast((message) => !replaced.has(message) && mediaOf(message).length > 0);
      if (newest?.role !== 'user') return false;
      replaced.set(newest, inWords(newest));
      any = true;
      return true;
    },
  };
}

function inWords({ content }: UserMessage): UserMessage {
  const blocks = content.map((block): UserBlock => {
    if (block.type !== 'tool_result') return wordsFor(block);
    return { ...block, content: block.content.map(wordsFor) };
  });
  return { role: 'user', content: blocks };
}

function wordsFor(block: ResultContent): ResultContent {
  if (!isMedia(block)) return block;
  const words: ResultText = {
    type: 'text',
    text: `(${block.type === 'image' ? 'an image' : 'a PDF'}, which the service refused to look at)`,
  };
  return words;
}
