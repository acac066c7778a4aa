import type { CallFault } from '../core/messages.ts';
import { CLOSE, OPEN, readCall, startsCall } from './xml-call.ts';
import { fenceAfter, standing } from './xml-line.ts';
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

/**
 * Finds calls in a reply's text while it arrives. What is found depends on the text alone, never on the pieces it came
 * in; a call is handed out as soon as it is whole. Calls in code, in quotations and in thinking are words.
 */
export class CallScanner {
  /** The text from the present line, or the open call, on. */
  #text = '';
  #fresh: string[] = [];
  #edge = '';
  /** Where in the text to look on. */
  #at = 0;
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
    const edge = this.#edge + text;
    this.#edge = edge.slice(1 - CLOSE.length);
    // A long call comes in many pieces; only one that may end it is worth looking at.
    if (this.#open && !edge.includes(CLOSE)) return [];
    return this.#scan(false);
  }

  /** The text is over; another one may follow in the same reply. */
  finish(): FoundCall[] {
    const calls = this.#scan(true);
    this.#text = '';
    this.#edge = '';
    this.#at = 0;
    this.#open = false;
    this.#fence = undefined;
    this.#thinking = 'maybe';
    return calls;
  }

  #scan(final: boolean): FoundCall[] {
    this.#text += this.#fresh.splice(0).join('');
    const calls: FoundCall[] = [];
    while (!this.#stopped && this.#step(final, calls));
    return calls;
  }

  /** One line or one call further; false: nothing more can be told from what is there. */
  #step(final: boolean, calls: FoundCall[]): boolean {
    if (this.#thinking !== 'no') return this.#think(final);
    return this.#open ? this.#call(final, calls) : this.#line(final);
  }

  #think(final: boolean): boolean {
    if (this.#thinking === 'maybe') {
      if (!final && MAY_THINK.test(this.#text)) return false;
      this.#thinking = THINKING.test(this.#text) ? 'yes' : 'no';
      return true;
    }
    const end = THOUGHT.exec(this.#text);
    if (!end) return false;
    this.#text = this.#text.slice(end.index + end[0].length);
    this.#thinking = 'no';
    return true;
  }

  #line(final: boolean): boolean {
    const newline = this.#text.indexOf('\n', this.#at);
    const tag = this.#text.indexOf(OPEN, this.#at);
    if (tag >= 0 && (newline < 0 || tag < newline)) return this.#tag(tag, final);
    if (newline < 0) return false;
    const line = this.#text.slice(0, newline);
    this.#fence = fenceAfter(line, this.#fence);
    if (!this.#fence && /^\s*<\/?tool_result\b/.test(line)) this.#forged = true;
    this.#text = this.#text.slice(newline + 1);
    this.#at = 0;
    return true;
  }

  #tag(tag: number, final: boolean): boolean {
    const starts = startsCall(this.#text.slice(tag, tag + 400), final);
    if (starts === 'more') return false;
    const place = this.#fence || starts === 'no' ? 'quoted' : standing(this.#text.slice(0, tag));
    // In the middle of a sentence the bare word is no call, whatever it is meant to say.
    if (place === 'quoted' || (place === 'inline' && starts !== 'named')) {
      this.#at = tag + OPEN.length;
      return true;
    }
    this.#text = this.#text.slice(tag);
    this.#at = 0;
    this.#open = true;
    this.#inline = place === 'inline';
    return true;
  }

  #call(final: boolean, calls: FoundCall[]): boolean {
    const read = readCall(this.#text, final);
    if (!read) return false;
    const fault = this.#forged ? 'forged_result' : (read.fault ?? (this.#inline ? 'inline' : undefined));
    const { name, input_json } = read;
    calls.push(fault === undefined ? { name, input_json } : { name, input_json: '{}', fault });
    this.#stopped = this.#forged || read.lost;
    this.#text = this.#text.slice(read.end);
    this.#at = 0;
    this.#open = false;
    return true;
  }
}
