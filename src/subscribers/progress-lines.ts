import { NO_PROCESSES } from '../core/texts.ts';
import { textOf, toolUses } from '../core/messages.ts';
import { promptTokens } from '../core/usage.ts';
import { showBytes, showCount, showMany, showSpan, showUsd } from '../core/figures.ts';
import { limitText, limitsText } from './limit-text.ts';
import { oneLine } from './one-line.ts';
import { serverCalls } from './server-calls.ts';
import type {
  Attempt,
  ModelFailedEvent,
  ModelReplyEvent,
  OutputChecked,
  PolicyVerdictEvent,
  RunEvent,
  RunStart,
  ToolEnd,
  UserMessageEvent,
  VerifyEnd,
} from '../core/events.ts';
import type { Line } from './line.ts';

export interface Surroundings {
  transcript: string;
  /** Inputs of the present calls by id, as the model wrote them. */
  inputs: ReadonlyMap<string, string>;
}

/** How much of a text of others a line shows. */
const SHOWN = 160;
/** Messages of a service or of ours are worth more room than a call's input. */
const MESSAGE_SHOWN = 400;
const TEXT_LINES_SHOWN = 20;

/** What an event is worth on stderr; most say one line, some none. The end of a run has lines of its own. */
export function eventLines(event: RunEvent, around: Surroundings): Line[] {
  switch (event.type) {
    case 'run_start':
      return startLines(event, around.transcript);
    case 'run_resume':
      return [
        info(`resuming; transcript ${around.transcript}${event.limits ? `; limits: ${limitsText(event.limits)}` : ''}`),
      ];
    case 'attempt':
      return [attemptLine(event)];
    case 'model_reply':
      return replyLines(event);
    case 'model_failed':
      return [failedLine(event)];
    case 'policy_verdict':
      return [verdictLine(event, around)];
    case 'tool_start':
      return [detail(`  ${event.name} started${event.early ? ' early' : ''} (${event.effect})`)];
    case 'tool_end':
      return toolLines(event, around);
    case 'user_message':
      return messageLines(event);
    case 'output_checked':
      return [checkLine(event)];
    case 'verify_end':
      return [verifyLine(event)];
    case 'compacted':
      return [info(`history replaced by a summary${event.cost_usd === 0 ? '' : `, ${showUsd(event.cost_usd)}`}`)];
    case 'notice':
      return [noticeLine(event.level, event.message)];
    default:
      return []; // turn_start and turn_end say nothing that the reply's line does not; run_end is the caller's
  }
}

function startLines(start: RunStart, transcript: string): Line[] {
  const { task, runner } = start;
  const { active, mode, detail: why } = runner.sandbox;
  const sandbox = `sandbox: ${mode === 'off' ? 'off' : active}${why ? ` (${why})` : ''}`;
  // Without a sandbox a run says so also when it is told to be quiet.
  const bare: Line = { level: 'warning', text: `warning: commands run without a sandbox; ${sandbox}` };
  const cut = start.context.filter((part) => part.omitted_bytes > 0);
  return [
    info(
      `agent-run ${runner.version}: task ${task.name} (${task.file}), model ${task.model.provider}/${task.model.id}`,
    ),
    info(`limits: ${limitsText(task.limits)}`),
    active === 'none' && why !== NO_PROCESSES ? bare : info(sandbox),
    info(`transcript: ${transcript}`),
    ...start.context.map((part) => info(`context: ${oneLine(part.label, SHOWN)}, ${showBytes(part.bytes)}`)),
    ...cut.map((part) =>
      warning(`${oneLine(part.label, SHOWN)}: ${showBytes(part.omitted_bytes)} left out (max_size)`),
    ),
  ];
}

function attemptLine(event: Attempt): Line {
  const { attempt, max_attempts, status, error_type, wait_ms, request_id, message } = event;
  const what = [status, error_type].filter((part) => part !== undefined).join(' ') || 'no answer';
  const then = wait_ms === undefined ? 'no further attempt' : `trying again in ${showSpan(wait_ms)}`;
  const id = request_id === undefined ? '' : ` (request id ${request_id})`;
  return warning(
    `turn ${event.turn}: attempt ${attempt} of ${max_attempts} failed: ${what}; ${then}${id}: ${oneLine(message, SHOWN)}`,
  );
}

function replyLines(event: ModelReplyEvent): Line[] {
  const { usage } = event;
  const calls = toolUses(event.content).length;
  const cached = usage.cache_read_input_tokens > 0 ? ` (${showCount(usage.cache_read_input_tokens)} cached)` : '';
  const head = info(
    [
      `turn ${event.turn}: ${event.stop_reason_raw ?? event.stop_reason}`,
      ...(calls > 0 ? [showMany(calls, 'call')] : []),
      `${showCount(promptTokens(usage))} tokens in${cached}, ${showCount(usage.output_tokens)} out${usage.estimated ? ' (estimated)' : ''}`,
      showUsd(event.cost_usd),
      showSpan(event.duration_ms),
    ].join(', '),
  );
  const said = textOf(event.content)
    .split('\n', TEXT_LINES_SHOWN)
    .filter((line) => line.trim() !== '');
  const served = serverCalls(event.content).map((call) => info(`  ${oneLine(call, SHOWN)}`));
  return [head, ...served, ...said.map((line) => detail(`  | ${oneLine(line, SHOWN)}`))];
}

function failedLine(event: ModelFailedEvent): Line {
  const text = `turn ${event.turn}: no reply (${event.kind}): ${oneLine(event.message, MESSAGE_SHOWN)}`;
  return { level: 'error', text };
}

function verdictLine(event: PolicyVerdictEvent, around: Surroundings): Line {
  const rule = event.rule === undefined ? '' : ` (rule ${oneLine(event.rule, SHOWN)})`;
  if (event.verdict === 'allow') return detail(`  ${event.name} allowed${rule}`);
  return warning(
    `denied: ${callText(event.name, event.tool_use_id, around)}: ${oneLine(event.reason ?? 'no rule allows it', MESSAGE_SHOWN)}${rule}`,
  );
}

function toolLines(event: ToolEnd, around: Surroundings): Line[] {
  if (event.status === 'denied') return []; // its verdict has been told
  const call = callText(event.name, event.tool_use_id, around);
  return [info(`  ${call}: ${event.status}, ${showSpan(event.duration_ms)}, ${showBytes(event.bytes)}`)];
}

function callText(name: string, tool_use_id: string, { inputs }: Surroundings): string {
  const input = inputs.get(tool_use_id) ?? '';
  return `${oneLine(name, SHOWN)}${input === '' || input === '{}' ? '' : ` ${oneLine(input, SHOWN)}`}`;
}

function messageLines(event: UserMessageEvent): Line[] {
  const { limit } = event;
  if (!limit) return event.reason === 'prompt' ? [] : [info(`asking again: ${event.reason}`)];
  return [warning(`${limitText(limit)}: asking for a conclusion`)];
}

function checkLine(event: OutputChecked): Line {
  const name = event.stage === 'gate' ? 'gate' : 'output';
  if (event.ok) return info(`${name}: ok`);
  const [issue, ...more] = event.issues;
  const first = issue ? `: ${issue.pointer || '(root)'}: ${oneLine(issue.message, SHOWN)}` : '';
  return warning(`${name}: ${event.kind}${first}${more.length > 0 ? ` and ${more.length} more` : ''}`);
}

function verifyLine(event: VerifyEnd): Line {
  const how = event.timed_out ? 'timed out' : `exit code ${event.exit_code ?? 'none'}`;
  const text = `verify: ${oneLine(event.command, SHOWN)}: ${event.ok ? 'ok' : how}, ${showSpan(event.duration_ms)}`;
  return event.ok ? info(text) : warning(text);
}

function noticeLine(level: 'info' | 'warning' | 'error', message: string): Line {
  const text = oneLine(message, MESSAGE_SHOWN);
  return level === 'info' ? info(text) : { level, text: `${level}: ${text}` };
}

function info(text: string): Line {
  return { level: 'info', text };
}

function detail(text: string): Line {
  return { level: 'detail', text };
}

function warning(text: string): Line {
  return { level: 'warning', text };
}
