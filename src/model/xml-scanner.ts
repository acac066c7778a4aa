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

const THINKING = /^\s*<think(?:ing)?>/;
const MAY_THINK = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/;
const THOUGHT = /<\/think(?:ing)?>/;

/** A text this long is looked at again only once a good part of it is new, so that no text costs more than a few passes. */
const LONG_TEXT = 4 * 1024;
const NEW_SHARE = 1 / 16;

/**
 * Finds calls in a reply's text while it arrives. What is found depends on the text alone, never on the pieces it came
 * in; a call is handed out as soon as it is whole. Calls in code, in quotations and in thinking are words.
 */
export class CallScanner {
  /** The text from the present line, or the open call, on. */
  #text = '';
  #fresh: string[] = [];
  #freshLength = 0;
  #edge = '';
  #open = false;
  #inline = false;
  #thinking: 'maybe' | 'yes' | 'no' = 'maybe';
  #fence: Fence | undefined;
  /** The model wrote a result of its own, or a call whose end cannot be told: what follows is not trusted. */
  #forged = false;
  #stopped = false;

  /** Takes the next piece; returns the calls that are whole now. */
  push(text: string): FoundCall[] {
    this.#fresh.push(text);
    this.#freshLength += text.length;
    const edge = this.#edge + text;
    this.#edge = edge.slice(1 - CLOSE.length);
    // Nothing but the end of a call can make one whole.
    if (!edge.includes(CLOSE)) return [];
    const worth = this.#text.length < LONG_TEXT || this.#freshLength >= this.#text.length * NEW_SHARE;
    return worth ? this.#scan(false) : [];
  }

  /** The text is over; another one may follow in the same reply. */
  finish(): FoundCall[] {
    const calls = this.#scan(true);
    this.#text = '';
    this.#edge = '';
    this.#open = false;
    this.#fence = undefined;
    this.#thinking = 'maybe';
    return calls;
  }

  #scan(final: boolean): FoundCall[] {
    const text = this.#text + this.#fresh.splice(0).join('');
    this.#freshLength = 0;
    const calls: FoundCall[] = [];
    const walk = new Walk(text);
    while (!this.#stopped && this.#step(walk, final, calls));
    this.#text = this.#stopped ? '' : text.slice(walk.line);
    return calls;
  }

  /** One line or one call further; false: nothing more can be told from what is there. */
  #step(walk: Walk, final: boolean, calls: FoundCall[]): boolean {
    if (this.#thinking !== 'no') return this.#think(walk, final);
    return this.#open ? this.#call(walk, final, calls) : this.#line(walk, final);
  }

  #think(walk: Walk, final: boolean): boolean {
    const { text } = walk;
    if (this.#thinking === 'maybe') {
      if (!final && MAY_THINK.test(text)) return false;
      this.#thinking = THINKING.test(text) ? 'yes' : 'no';
      return true;
    }
    const end = THOUGHT.exec(text);
    if (!end) return false;
    walk.startAt(end.index + end[0].length);
    this.#thinking = 'no';
    return true;
  }

  #line(walk: Walk, final: boolean): boolean {
    const newline = walk.newline();
    const tag = walk.tag();
    if (tag >= 0 && (newline < 0 || tag < newline)) return this.#tag(walk, tag, final);
    if (newline < 0) return false;
    const line = walk.text.slice(walk.line, newline);
    this.#fence = fenceAfter(line, this.#fence);
    if (!this.#fence && /^\s*<\/?tool_result\b/.test(line)) this.#forged = true;
    walk.startAt(newline + 1);
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

  #call(walk: Walk, final: boolean, calls: FoundCall[]): boolean {
    const read = readCall(walk.text.slice(walk.line), final);
    if (!read) return false;
    const fault = this.#forged ? 'forged_result' : (read.fault ?? (this.#inline ? 'inline' : undefined));
    const { name, input_json } = read;
    calls.push(fault === undefined ? { name, input_json } : { name, input_json: '{}', fault });
    this.#stopped = this.#forged || read.lost;
    walk.startAt(walk.line + read.end);
    this.#open = false;
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
  #tag: number | undefined;
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

  /** Where the next tag begins that may open a call; -1: nowhere. */
  tag(): number {
    if (this.#tag === undefined || (this.#tag >= 0 && this.#tag < this.at))
      this.#tag = this.text.indexOf(OPEN, this.at);
    return this.#tag;
  }

  standingAt(place: number): ReturnType<Standing['after']> {
    const part = this.text.slice(this.#stoodAt, place);
    this.#stoodAt = place;
    return this.#standing.after(part);
  }
}
