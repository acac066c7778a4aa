import type { CallFault } from '../core/messages.ts';
import { CLOSE, OPEN, readCall, startsCall } from './xml-call.ts';
import { fenceAfter, Standing } from './xml-line.ts';
import type { Fence } from './xml-line.ts';

/** A call as it stands in a text: what is to be called, or why the text is no call. */
export interface FoundCall {
  name: string;
  input_json: string;
  fault?: CallFault;
}

/** All that was found in this text so far stood in thinking, whose beginning was not written: none of it is a call. */
export const ALL_THOUGHT = 'all_thought';
export type Found = FoundCall | typeof ALL_THOUGHT;

const THOUGHT = /<\/think(?:ing)?>/;
const NAMED_CALL = /<tool_call>\s*<name>\s*([^<]{1,200}?)\s*<\/name>/;

/** A text this long is looked at again only once a good part of it is new, so that no text costs more than a few passes. */
const LONG_TEXT = 4 * 1024;
const NEW_SHARE = 1 / 16;

/**
 * Finds calls in a reply's text while it arrives. What is found depends on the text alone, never on the pieces it came
 * in; a call is handed out as soon as it is whole. Calls in code, in quotations and in thinking are words. Templates may
 * begin the thinking themselves: then only its end stands in the text, and what was found before it is taken back.
 */
export class CallScanner {
  /** The text from the present line, or the open call, on. */
  #text = '';
  #fresh: string[] = [];
  #freshLength = 0;
  #edge = '';
  #open = false;
  #inline = false;
  #thinking = false;
  /** Something stands in the text that is no thinking. */
  #spoken = false;
  #fence: Fence | undefined;
  /** Thinking ends in a fence that is still open. */
  #endsInFence = false;
  /** The model wrote a result of its own, or a call whose end cannot be told: what follows is not trusted. */
  #forged = false;
  #stopped = false;
  /** The call in this text at which the reading stopped. */
  #last: FoundCall | undefined;

  /** Takes the next piece; returns the calls that are whole now. */
  push(text: string): Found[] {
    this.#fresh.push(text);
    if (this.#stopped) return [];
    this.#freshLength += text.length;
    const edge = this.#edge + text;
    this.#edge = edge.slice(1 - CLOSE.length);
    // Nothing but the end of a call can make one whole.
    if (!edge.includes(CLOSE)) return [];
    const worth = this.#text.length < LONG_TEXT || this.#freshLength >= this.#text.length * NEW_SHARE;
    return worth ? this.#scan(false) : [];
  }

  /** The text is over; another one may follow in the same reply. */
  finish(): Found[] {
    const found = [...this.#scan(true), ...this.#atEnd()];
    this.#text = '';
    this.#edge = '';
    this.#open = false;
    this.#fence = undefined;
    this.#endsInFence = false;
    this.#thinking = false;
    this.#spoken = false;
    this.#last = undefined;
    return found;
  }

  #scan(final: boolean): Found[] {
    const text = this.#text + this.#fresh.splice(0).join('');
    this.#freshLength = 0;
    const found: Found[] = [];
    const walk = new Walk(text);
    while (!this.#stopped && this.#step(walk, final, found));
    this.#text = text.slice(walk.line);
    return found;
  }

  /** What only the whole text can tell. */
  #atEnd(): Found[] {
    // What is not read any more may be thinking all the same; the fault stays, so that the model is told.
    if (this.#stopped) return this.#last && THOUGHT.test(this.#text) ? [ALL_THOUGHT, this.#last] : [];
    if (this.#fence && this.#endsInFence) return [ALL_THOUGHT];
    const name = this.#thinking && this.#spoken ? NAMED_CALL.exec(this.#text)?.[1] : undefined;
    return name === undefined ? [] : [{ name, input_json: '{}', fault: 'thinking' }];
  }

  /** One line or one call further; false: nothing more can be told from what is there. */
  #step(walk: Walk, final: boolean, found: Found[]): boolean {
    if (this.#thinking) return this.#think(walk);
    return this.#open ? this.#call(walk, final, found) : this.#line(walk, final, found);
  }

  #think(walk: Walk): boolean {
    const end = walk.find(THOUGHT);
    if (!end) return false;
    walk.startAt(end.index + end[0].length);
    this.#thinking = false;
    return true;
  }

  #line(walk: Walk, final: boolean, found: Found[]): boolean {
    const newline = walk.newline();
    const tag = walk.tag();
    if (tag && (newline < 0 || tag.index < newline)) {
      return tag[0] === OPEN ? this.#tag(walk, tag.index, final) : this.#thinkTag(walk, tag, found);
    }
    if (newline < 0) return false;
    const line = walk.text.slice(walk.line, newline);
    this.#fence = fenceAfter(line, this.#fence);
    if (!this.#fence) this.#endsInFence = false;
    if (!this.#fence && /^\s*<\/?tool_result\b/.test(line)) this.#forged = true;
    if (line.trim() !== '') this.#spoken = true;
    walk.startAt(newline + 1);
    return true;
  }

  /** Where thinking begins or ends, whatever stands before it in its line. */
  #thinkTag(walk: Walk, { 0: tag, index }: RegExpExecArray, found: Found[]): boolean {
    const ends = tag.startsWith('</');
    if (this.#fence || walk.standingAt(index) === 'quoted') {
      if (this.#fence && ends) this.#endsInFence = true;
      walk.at = index + tag.length;
      return true;
    }
    if (walk.text.slice(walk.line, index).trim() !== '') this.#spoken = true;
    walk.startAt(index + tag.length);
    this.#thinking = !ends;
    if (!ends) return true;
    found.push(ALL_THOUGHT);
    this.#spoken = false;
    this.#forged = false;
    return true;
  }

  #tag(walk: Walk, tag: number, final: boolean): boolean {
    const starts = startsCall(walk.text.slice(tag, tag + 400), final);
    if (starts === 'more') return false;
    const place = this.#fence || starts === 'no' ? 'quoted' : walk.standingAt(tag);
    // In the middle of a sentence the bare word is no call, whatever it is meant to say.
    if (place === 'quoted' || (place === 'inline' && starts !== 'named')) {
      walk.at = tag + OPEN.length;
      return true;
    }
    walk.startAt(tag);
    this.#open = true;
    this.#inline = place === 'inline';
    return true;
  }

  #call(walk: Walk, final: boolean, found: Found[]): boolean {
    const read = readCall(walk.text.slice(walk.line), final);
    if (!read) return false;
    const fault = this.#forged ? 'forged_result' : (read.fault ?? (this.#inline ? 'inline' : undefined));
    const { name, input_json } = read;
    const call: FoundCall = fault === undefined ? { name, input_json } : { name, input_json: '{}', fault };
    found.push(call);
    this.#open = false;
    this.#spoken = true;
    this.#stopped = this.#forged || read.lost;
    if (this.#stopped) this.#last = call;
    else walk.startAt(walk.line + read.end);
    return true;
  }
}

/** A way through a text that looks at each place once. */
class Walk {
  readonly text: string;
  /** Where the present line, or the open call, begins. */
  line = 0;
  /** Where to look for the next tag. */
  at = 0;
  #newline: number | undefined;
  readonly #tags = /<tool_call|<\/?think(?:ing)?>/g;
  #tag: RegExpExecArray | null | undefined;
  #standing = new Standing();
  #stoodAt = 0;

  constructor(text: string) {
    this.text = text;
  }

  startAt(place: number): void {
    this.line = place;
    this.at = place;
    this.#standing = new Standing();
    this.#stoodAt = place;
  }

  /** The end of the present line; -1: it has not come. */
  newline(): number {
    if (this.#newline === undefined || (this.#newline >= 0 && this.#newline < this.line))
      this.#newline = this.text.indexOf('\n', this.line);
    return this.#newline;
  }

  /** The next tag that may open a call, or that begins or ends thinking. */
  tag(): RegExpExecArray | null {
    if (this.#tag === undefined || (this.#tag && this.#tag.index < this.at)) {
      this.#tags.lastIndex = this.at;
      this.#tag = this.#tags.exec(this.text);
    }
    return this.#tag;
  }

  /** The first match from the present line on, by its place in the text. */
  find(pattern: RegExp): { index: number; 0: string } | undefined {
    const match = pattern.exec(this.text.slice(this.line));
    return match ? { index: this.line + match.index, 0: match[0] } : undefined;
  }

  standingAt(place: number): ReturnType<Standing['after']> {
    const part = this.text.slice(this.#stoodAt, place);
    this.#stoodAt = place;
    return this.#standing.after(part);
  }
}
