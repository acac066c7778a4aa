import type { ModelConfig, ScriptTurn } from '../core/config.ts';
import { cutMiddle } from '../core/cut.ts';
import type { AssistantBlock, Message, ToolUseBlock } from '../core/messages.ts';
import { toolUses } from '../core/messages.ts';
import type { ModelClient, ModelReply, ModelRequest, Redact, SendHooks } from '../core/ports.ts';
import { costUsd } from '../core/usage.ts';
import type { AttemptFailure } from './failure.ts';
import { HeaderList } from './http-response.ts';
import { judgeError } from './failure.ts';
import { pricesOf } from './pricing.ts';
import { cleanInput, cleanText } from './reply-blocks.ts';
import { stopReason } from './reply-reader.ts';
import { readUsage } from './reply-usage.ts';
import { sendWithRetries } from './retry.ts';
import type { AttemptResult, RetryDeps } from './retry.ts';
import { checkScript } from './script-check.ts';
import type { ScriptPlace } from './script-check.ts';

export interface ScriptDeps extends RetryDeps {
  redact: Redact;
  /** Where the script was read, for messages. */
  script_place?: ScriptPlace;
}

interface Stage {
  config: ModelConfig;
  deps: ScriptDeps;
  turns: readonly ScriptTurn[];
  /** Index of the turn that is played next; unknown until the first request shows how much was played before. */
  next: number | undefined;
}

const DEFAULT_USAGE = { input_tokens: 10, output_tokens: 5 };
const MAX_SHOWN_BYTES = 600;
const IN_TASK: ScriptPlace = { file: 'the task', pointer: '/model/script' };

/** A model that plays `config.script`, errors and waits included. Throws UsageError when the script has a wrong shape. */
export function createScriptClient(config: ModelConfig, deps: ScriptDeps): ModelClient {
  const { turns } = checkScript(config.script ?? {}, deps.script_place ?? IN_TASK);
  const stage: Stage = { config, deps, turns, next: undefined };
  const known = pricesOf(config, deps.clock.now());
  return {
    id: config.id,
    ...known,
    max_output_tokens: null,
    context_tokens: null,
    send(request, hooks, signal) {
      stage.next ??= indexAfter(turns, repliesBefore(request));
      const attempt = () => playTurn(stage, request, hooks, signal);
      return sendWithRetries({ model: config.id, prices: known.prices, attempt }, deps, hooks, signal);
    },
  };
}

// A history may have been replaced by a summary, so the number of the turn says more than what is left of it.
function repliesBefore({ turn, messages }: ModelRequest): number {
  return turn === undefined ? messages.filter(({ role }) => role === 'assistant').length : turn - 1;
}

// A resumed run goes on where it stopped: each reply before was one turn that is no error.
function indexAfter(turns: readonly ScriptTurn[], before: number): number {
  let replies = before;
  let index = 0;
  while (replies > 0 && index < turns.length) {
    if (!turns[index]?.error) replies -= 1;
    index += 1;
  }
  return index;
}

async function playTurn(
  stage: Stage,
  request: ModelRequest,
  hooks: SendHooks,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { deps, turns } = stage;
  const index = stage.next ?? 0;
  stage.next = index + 1;
  const number = index + 1;
  const turn = turns[index];
  if (!turn)
    return failed(
      scriptFault(
        `the script has ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}, and turn ${number} was asked: add one to model.script`,
      ),
    );
  const started_ms = deps.clock.now();
  if (turn.delay_ms) await deps.clock.sleep(turn.delay_ms, signal);
  if (signal.aborted) return failed({ kind: 'aborted', message: 'stopped while the script waited', retry: false });
  const unmet = unmetExpectation(turn, request.messages, number);
  if (unmet) return failed(scriptFault(unmet));
  if (turn.error) return failed(errorOf(turn.error, stage, started_ms));
  const reply = replyOf(turn, number, stage);
  for (const call of toolUses(reply.content)) hooks.onBlock(call);
  return { ok: true, reply: { ...reply, duration_ms: deps.clock.now() - started_ms } };
}

function unmetExpectation({ expect }: ScriptTurn, messages: readonly Message[], number: number): string | undefined {
  const results = lastResults(messages);
  const missing = [expect ?? []].flat().find((wanted) => !results.includes(wanted));
  if (missing === undefined) return undefined;
  const shown =
    results === '' ? 'there are none' : `they are ${JSON.stringify(cutMiddle(results, MAX_SHOWN_BYTES).text)}`;
  return `turn ${number} of the script expects ${JSON.stringify(missing)} in the last tool results; ${shown}`;
}

function lastResults(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const texts: string[] = [];
  for (const block of last?.role === 'user' ? last.content : []) {
    if (block.type !== 'tool_result') continue;
    for (const part of block.content) if (part.type === 'text') texts.push(part.text);
  }
  return texts.join('\n');
}

function errorOf(error: NonNullable<ScriptTurn['error']>, { config }: Stage, now_ms: number): AttemptFailure {
  const { status, type, message, headers } = error;
  const told = {
    type: type ?? (status === 429 ? 'rate_limit_error' : status === 529 ? 'overloaded_error' : 'api_error'),
    message: message ?? 'scripted error',
    headers: new HeaderList(headers),
    ...(status === undefined ? {} : { status }),
  };
  return judgeError(told, { provider: 'script', base_url: 'model.script', model: config.id }, now_ms);
}

function replyOf(turn: ScriptTurn, number: number, { config, deps }: Stage): Omit<ModelReply, 'duration_ms'> {
  const calls = (turn.tool_use ?? []).map((call, at) => callOf(call, `${padded(number)}_${at + 1}`, deps.redact));
  const content: AssistantBlock[] = [...calls];
  if (turn.text !== undefined) content.unshift({ type: 'text', text: cleanText(turn.text, deps.redact) });
  if (turn.thinking !== undefined) {
    content.unshift({ type: 'thinking', thinking: cleanText(turn.thinking, deps.redact), signature: 'script' });
  }
  const usage = readUsage(turn.usage ?? DEFAULT_USAGE);
  return {
    model: config.id,
    message_id: `msg_script_${padded(number)}`,
    content,
    ...stopReason(turn.stop_reason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')),
    usage,
    cost_usd: costUsd(usage, pricesOf(config, deps.clock.now()).prices),
  };
}

function callOf(call: NonNullable<ScriptTurn['tool_use']>[number], suffix: string, redact: Redact): ToolUseBlock {
  const input_json = cleanInput(call.input_json ?? JSON.stringify(call.input ?? {}), redact);
  return { type: 'tool_use', id: call.id ?? `toolu_script_${suffix}`, name: call.name, input_json };
}

function padded(number: number): string {
  return String(number).padStart(3, '0');
}

function scriptFault(message: string): AttemptFailure {
  return { kind: 'api_error', error_type: 'script', message, retry: false };
}

function failed(failure: AttemptFailure): AttemptResult {
  return { ok: false, failure, offered: false };
}
