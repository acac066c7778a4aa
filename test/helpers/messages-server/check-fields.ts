import { isRecord, shown, words } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { ModelFacts, Violation } from './types.ts';

/** What the rules look at; `counting` is true for count_tokens, which has fewer fields. */
export interface Incoming {
  body: JsonRecord;
  betas: string[];
  model: ModelFacts | undefined;
  counting: boolean;
}

const SHARED_FIELDS = words(
  'messages model cache_control output_config speed system thinking tool_choice tools user_profile_id workspace_id',
);
const CREATE_FIELDS = words(
  'max_tokens container diagnostics inference_geo metadata service_tier stop_sequences stream',
);
// Fields that exist only behind a beta header, with the start of its name.
const BETA_FIELDS: Record<string, string> = {
  compaction: 'compact-',
  context_management: 'context-management-',
  fallbacks: 'server-side-fallback-',
  mcp_servers: 'mcp-client-',
  thread: 'message-threads-',
};
const SAMPLING = ['temperature', 'top_p', 'top_k'];
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Checks the top level of a request: fields, model, max_tokens, sampling, thinking, effort, tool_choice. */
export function* checkFields(incoming: Incoming): Generator<Violation> {
  yield* checkNames(incoming);
  yield* checkModel(incoming);
  if (!incoming.counting) yield* checkMaxTokens(incoming);
  yield* checkThinking(incoming);
  yield* checkToolChoice(incoming.body);
  yield* checkStream(incoming.body);
  yield* checkDiagnostics(incoming.body);
}

function* checkNames({ body, betas, counting }: Incoming): Generator<Violation> {
  for (const name of SAMPLING) {
    if (name in body) yield { rule: 'sampling', message: `\`${name}\` is deprecated for this model.` };
  }
  const known = counting ? SHARED_FIELDS : [...SHARED_FIELDS, ...CREATE_FIELDS];
  for (const name of Object.keys(body)) {
    const beta = BETA_FIELDS[name];
    const enabled = beta !== undefined && betas.some((given) => given.startsWith(beta));
    if (!known.includes(name) && !enabled && !SAMPLING.includes(name)) {
      yield { rule: 'fields', message: `${name}: Extra inputs are not permitted` };
    }
  }
  for (const name of counting ? ['model', 'messages'] : ['model', 'max_tokens', 'messages']) {
    if (!(name in body)) yield { rule: 'fields', message: `${name}: Field required` };
  }
}

function* checkModel({ body, model }: Incoming): Generator<Violation> {
  const id = body['model'];
  if (typeof id !== 'string' || id === '') yield { rule: 'model', message: 'model: Input should be a valid string' };
  else if (model === undefined) yield { rule: 'model', message: `model: ${id}`, status: 404, type: 'not_found_error' };
}

function* checkMaxTokens({ body, model }: Incoming): Generator<Violation> {
  const given = body['max_tokens'];
  if (typeof given !== 'number' || !Number.isInteger(given)) {
    yield { rule: 'max_tokens', message: 'max_tokens: Input should be a valid integer' };
  } else if (given < 1) {
    yield { rule: 'max_tokens', message: 'max_tokens: Input should be greater than or equal to 1' };
  } else if (model !== undefined && given > model.max_tokens) {
    const most = `the maximum allowed number of output tokens for ${shown(body['model'])}`;
    yield { rule: 'max_tokens', message: `max_tokens: ${given} > ${model.max_tokens}, which is ${most}` };
  }
}

function* checkThinking({ body, model }: Incoming): Generator<Violation> {
  const config = body['output_config'];
  const effort = isRecord(config) ? config['effort'] : undefined;
  if (effort !== undefined && effort !== null && !EFFORTS.includes(shown(effort))) {
    yield {
      rule: 'thinking',
      message: `output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'`,
    };
  }
  const thinking = body['thinking'];
  if (thinking === undefined) return;
  const type = isRecord(thinking) ? shown(thinking['type']) : '';
  if (!isRecord(thinking) || (model !== undefined && !model.thinking.includes(type))) {
    yield { rule: 'thinking', message: `thinking.type: "${type}" is not supported for this model` };
    return;
  }
  if (type === 'enabled') yield* checkThinkingBudget(thinking['budget_tokens'], body['max_tokens']);
  if (type === 'between_tools' && (effort === 'xhigh' || effort === 'max')) {
    yield { rule: 'thinking', message: 'thinking.type: "between_tools" is not supported at this effort' };
  }
}

function* checkThinkingBudget(budget: unknown, maxTokens: unknown): Generator<Violation> {
  if (typeof budget !== 'number' || budget < 1024) {
    yield {
      rule: 'thinking',
      message: 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    };
  } else if (typeof maxTokens === 'number' && budget >= maxTokens) {
    yield { rule: 'thinking', message: '`max_tokens` must be greater than `thinking.budget_tokens`' };
  }
}

function* checkToolChoice(body: JsonRecord): Generator<Violation> {
  const choice = body['tool_choice'];
  if (choice === undefined) return;
  const type = isRecord(choice) ? choice['type'] : undefined;
  if (type === 'any' || type === 'tool') {
    yield {
      rule: 'tool_choice',
      message: `tool_choice: forced tool use (type "${type}") is not supported for this model`,
    };
  } else if (type !== 'auto' && type !== 'none') {
    yield { rule: 'tool_choice', message: `tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'` };
  } else if (!Array.isArray(body['tools']) || body['tools'].length === 0) {
    yield { rule: 'tool_choice', message: 'tool_choice: tool_choice may only be specified while providing tools' };
  }
}

function* checkStream(body: JsonRecord): Generator<Violation> {
  const { stream, stop_sequences: stops } = body;
  if (stream !== undefined && typeof stream !== 'boolean') {
    yield { rule: 'fields', message: 'stream: Input should be a valid boolean' };
  }
  if (stops === undefined) return;
  const valid = Array.isArray(stops) && stops.every((stop) => typeof stop === 'string' && stop.trim() !== '');
  if (!valid) yield { rule: 'fields', message: 'stop_sequences: each stop sequence must contain non-whitespace' };
}

function* checkDiagnostics(body: JsonRecord): Generator<Violation> {
  const given = body['diagnostics'];
  if (given === undefined || given === null) return;
  const id = isRecord(given) ? given['previous_message_id'] : undefined;
  const alone = isRecord(given) && Object.keys(given).every((key) => key === 'previous_message_id');
  if (alone && (id === null || (typeof id === 'string' && id.startsWith('msg_')))) return;
  yield { rule: 'diagnostics', message: 'diagnostics: Input should be { previous_message_id: string | null }' };
}
