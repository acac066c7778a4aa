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
  for (let close = first; close >= 0; close = text.indexOf(CLOSE, close + 1)) {
    const { params, ended } = paramsIn(text.slice(head[0].length, close));
    if (ended && (params.trim() === '' || parses(params))) return whole(name, params, close);
    // Inside a string the closing tag is a part of the input.
    const string = stringAtEnd(params);
    if (string === 'open') continue;
    if (close !== first || !clear || string === 'spoilt') return broken(name, 'open_string', cut);
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

/** Whether a string of the JSON is open at its end; `spoilt`: one that holds what no string may hold. */
function stringAtEnd(json: string): 'none' | 'open' | 'spoilt' {
  let open = false;
  let spoilt = false;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit === 0x22) open = !open;
    else if (open && unit < 0x20) spoilt = true;
    else if (open && unit === 0x5c) at += 1;
  }
  if (!open) return 'none';
  return spoilt ? 'spoilt' : 'open';
}
