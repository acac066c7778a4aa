// A call in a text: <tool_call><name>NAME</name><params>{JSON}</params></tool_call>. Read by looking for its parts and
// never as XML, for the JSON may hold anything, these very tags included.

import type { CallFault } from '../core/messages.ts';

export const OPEN = '<tool_call';
export const CLOSE = '</tool_call>';

export interface ReadCall {
  name: string;
  input_json: string;
  fault?: CallFault;
  /** Where in the text the call ends. */
  end: number;
  /** Where it ends cannot be told, so what follows may still be part of it. */
  lost: boolean;
}

/** What a call without a readable name is called. */
const NAMELESS = 'tool_call';
const LONGEST_NAME = 200;
const HEAD = /^<tool_call>\s*<name>([^<]*)<\/name>\s*/;
const NAMED = /^<tool_call(?:[\s/][^<>\n]{0,200})?>\s*<name>/;
const MAY_BE_NAMED = /^<tool_call(?:[\s/][^<>\n]{0,200})?(?:>\s*(?:<(?:n(?:a(?:m(?:e)?)?)?)?)?)?$/;
const PARAMS = '<params>';
const PARAMS_END = /<\/params>\s*$/;

/** Whether a text that begins with the tag's name opens a call: `named` when a name follows, `bare` when none does. */
export function startsCall(text: string, final: boolean): 'no' | 'bare' | 'named' | 'more' {
  if (NAMED.test(text)) return 'named';
  if (!final && MAY_BE_NAMED.test(text)) return 'more';
  return /^<tool_call(?:[\s/>]|$)/.test(text) ? 'bare' : 'no';
}

/** The call that a text begins with; undefined when its end may still come. */
export function readCall(text: string, final: boolean): ReadCall | undefined {
  const first = text.indexOf(CLOSE);
  const name = nameIn(text);
  if (first < 0) return final ? broken(name, 'unclosed', text.length) : undefined;
  const cut = first + CLOSE.length;
  const clear = !nests(text, first);
  const head = HEAD.exec(text);
  if (!head || name === NAMELESS) return { ...broken(name, 'no_name', cut), lost: !clear };
  const start = head[0].length;
  const string = new StringState();
  for (let close = first; close >= 0; close = text.indexOf(CLOSE, close + 1)) {
    const state = string.after(text, start, close);
    // Inside a string the closing tag is a part of the input.
    if (state === 'open') continue;
    const { params, ended } = paramsIn(text.slice(start, close));
    if (ended && (params.trim() === '' || parses(params))) return whole(name, params, close);
    if (close !== first || !clear || state === 'spoilt') return broken(name, 'open_string', cut);
    return ended ? whole(name, params, close) : { ...broken(name, 'no_params', cut), lost: false };
  }
  return final ? broken(name, 'open_string', cut) : undefined;
}

function whole(name: string, params: string, close: number): ReadCall {
  return { name, input_json: params.trim() || '{}', end: close + CLOSE.length, lost: false };
}

function broken(name: string, fault: CallFault, end: number): ReadCall {
  return { name, input_json: '{}', fault, end, lost: true };
}

/** Another call begins before this one ends. */
function nests(text: string, end: number): boolean {
  const inner = text.indexOf(OPEN, OPEN.length);
  return inner >= 0 && inner < end;
}

function nameIn(text: string): string {
  const name = /^<tool_call[^<>]*>\s*<name>([^<]*)<\/name>/.exec(text)?.[1]?.trim() ?? '';
  return name === '' || name.length > LONGEST_NAME ? NAMELESS : name;
}

/** The text behind the tag of the parameters, and whether their closing tag stands at its end; no tags at all mean none. */
function paramsIn(text: string): { params: string; ended: boolean } {
  if (!text.startsWith(PARAMS)) return { params: '', ended: text.trim() === '' };
  const end = PARAMS_END.exec(text);
  return { params: text.slice(PARAMS.length, end?.index ?? text.length), ended: end !== null };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // a SyntaxError: broken, or cut inside a string
  }
}

/** Whether a string of JSON is open at a place; `spoilt`: one that holds what no string may hold. */
class StringState {
  #open = false;
  #spoilt = false;
  #at: number | undefined;

  /** Goes on from where it was, at first from `start`. */
  after(text: string, start: number, end: number): 'none' | 'open' | 'spoilt' {
    let at = this.#at ?? start;
    for (; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === 0x22) this.#open = !this.#open;
      else if (this.#open && unit < 0x20) this.#spoilt = true;
      else if (this.#open && unit === 0x5c) at += 1;
    }
    this.#at = at;
    if (!this.#open) return 'none';
    return this.#spoilt ? 'spoilt' : 'open';
  }
}
