import type { AssistantBlock, ToolUseBlock } from '../core/messages.ts';
import type { ModelClient, ModelReply, ModelRequest, ProtocolTexts, Random, Redact, SendHooks } from '../core/ports.ts';
import { cleanInput, cleanText } from './reply-blocks.ts';
import { createTextWriter } from './xml-messages.ts';
import { ALL_THOUGHT, CallScanner } from './xml-scanner.ts';
import type { Found, FoundCall } from './xml-scanner.ts';

export interface XmlDeps {
  texts: ProtocolTexts;
  redact: Redact;
  random: Random;
}

/** A client for models without tool calling: they are told of tools in words, and call them in the text of their replies. */
export function withXmlProtocol(client: ModelClient, deps: XmlDeps): ModelClient {
  const write = createTextWriter(deps.texts);
  return {
    ...client,
    async send(request, hooks, signal) {
      const reading = new Reading(request, hooks, deps);
      const result = await client.send(write(request), reading.hooks(), signal);
      return result.ok ? { ...result, ...reading.finish(result) } : result;
    },
  };
}

/** The calls in the text of one reply, attempt by attempt. */
class Reading {
  readonly #hooks: SendHooks;
  readonly #deps: XmlDeps;
  readonly #turn: number;
  #attempt = 1;
  #suffix: string;
  #scanner = new CallScanner();
  #block: number | undefined;
  #calls: ToolUseBlock[] = [];
  /** How many of them stand in texts before the present one. */
  #before = 0;
  /** Calls so far, those that were taken back included: no id is given twice. */
  #count = 0;
  #offered = false;

  constructor({ turn = 0 }: ModelRequest, hooks: SendHooks, deps: XmlDeps) {
    this.#hooks = hooks;
    this.#deps = deps;
    this.#turn = turn;
    this.#suffix = suffixOf(deps.random);
  }

  hooks(): SendHooks {
    const outer = this.#hooks;
    return {
      onBlock: (block) => outer.onBlock(block),
      onDiscard: () => outer.onDiscard(),
      onText: (text, block) => this.#hear(text, block),
      onAttempt: (attempt) => {
        this.#startAnew();
        outer.onAttempt(attempt);
      },
      admit: () => outer.admit(),
    };
  }

  /** The reply with its calls; the text they stand in stays as it is, so it can be sent back to the byte. */
  finish({ content, stop_reason }: ModelReply): Pick<ModelReply, 'content' | 'stop_reason'> {
    // A client that does not hand out text while it comes.
    if (this.#block === undefined) {
      for (const [index, block] of content.entries()) if (block.type === 'text') this.#hear(block.text, index);
    }
    this.#take(this.#scanner.finish());
    const ended = stop_reason === 'end_turn' || stop_reason === 'stop_sequence';
    const calls: AssistantBlock[] = this.#calls;
    return { content: [...content, ...calls], stop_reason: ended && calls.length > 0 ? 'tool_use' : stop_reason };
  }

  #hear(text: string, block: number): void {
    if (this.#block !== undefined && block !== this.#block) {
      this.#take(this.#scanner.finish());
      this.#before = this.#calls.length;
    }
    this.#block = block;
    this.#take(this.#scanner.push(text));
  }

  #take(found: readonly Found[]): void {
    for (const one of found) {
      if (one === ALL_THOUGHT) {
        this.#takeBack();
        continue;
      }
      const call = this.#callOf(one);
      this.#calls.push(call);
      if (call.fault !== undefined) continue;
      this.#offered = true;
      this.#hooks.onBlock(call);
    }
  }

  /** What read early for them belongs to no call; nothing but reads begins before the reply is whole. */
  #takeBack(): void {
    const offered = this.#calls.splice(this.#before).some(({ fault }) => fault === undefined);
    if (offered) this.#hooks.onDiscard();
  }

  #callOf({ name, input_json, fault }: FoundCall): ToolUseBlock {
    const { redact } = this.#deps;
    this.#count += 1;
    const id = `xml_${this.#turn}_${this.#attempt}_${this.#count}_${this.#suffix}`;
    const call = {
      type: 'tool_use' as const,
      id,
      name: cleanText(name, redact),
      input_json: cleanInput(input_json, redact),
    };
    return { ...call, in_text: true, ...(fault === undefined ? {} : { fault }) };
  }

  /** The attempt failed: its calls belong to no reply, and another attempt asks for calls of its own. */
  #startAnew(): void {
    if (this.#offered) this.#hooks.onDiscard();
    this.#attempt += 1;
    this.#suffix = suffixOf(this.#deps.random);
    this.#scanner = new CallScanner();
    this.#block = undefined;
    this.#calls = [];
    this.#before = 0;
    this.#count = 0;
    this.#offered = false;
  }
}

/** Keeps ids apart from those of a turn that was asked before the run was resumed. */
function suffixOf(random: Random): string {
  return Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0');
}
