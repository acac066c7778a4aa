// What a strict endpoint for chat completions refuses. Each check returns what is wrong, or undefined.

export type Json = Record<string, unknown>;

export interface Rules {
  /** The key that must come; absent: no authorization may come at all. */
  key?: string;
  /** Takes only strict schemas. */
  strict?: boolean;
  /** Thinking mode: calls must come back with their reasoning_content. */
  thinking?: boolean;
  /** Fields of the body that the endpoint does not know. */
  refuses?: readonly string[];
}

const FIELDS =
  'model messages tools response_format reasoning_effort max_tokens max_completion_tokens stream stream_options'.split(
    ' ',
  );
const MESSAGE_FIELDS: Record<string, readonly string[]> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'reasoning_content', 'reasoning'],
  tool: ['role', 'content', 'tool_call_id'],
};
const NOT_STRICT = ['$schema', '$ref', 'default', 'format'];

export function bodyFault(body: Json, rules: Rules): string | undefined {
  const unknown = Object.keys(body).find((key) => !FIELDS.includes(key) || rules.refuses?.includes(key));
  const instead = unknown === 'max_tokens' ? " Use 'max_completion_tokens' instead." : '';
  if (unknown !== undefined) return `Unsupported parameter: '${unknown}'.${instead}`;
  if (typeof body['model'] !== 'string' || body['stream'] !== true) return 'model is missing or stream is not true';
  const limits = [body['max_tokens'], body['max_completion_tokens']].filter((limit) => limit !== undefined);
  if (limits.length !== 1 || !Number.isInteger(limits[0]) || Number(limits[0]) < 1) return 'one limit is needed';
  const tools = (body['tools'] ?? []) as Json[];
  if (body['tools'] !== undefined && tools.length === 0) return 'tools is empty';
  return toolsFault(tools, rules) ?? messagesFault((body['messages'] ?? []) as Json[], rules);
}

function toolsFault(tools: readonly Json[], { strict }: Rules): string | undefined {
  const names = new Set<unknown>();
  for (const tool of tools) {
    const { name, parameters, strict: isStrict } = tool['function'] as Json;
    if (tool['type'] !== 'function' || !/^[\w-]{1,64}$/.test(String(name))) return `bad tool ${String(name)}`;
    if (names.has(name)) return `tool ${String(name)} is repeated`;
    names.add(name);
    const fault = schemaFault(parameters as Json, strict === true);
    if (fault) return `Invalid schema for function '${String(name)}': ${fault}`;
    if (strict && isStrict !== true) return `function '${String(name)}' must be strict`;
  }
  return undefined;
}

function schemaFault(schema: Json, strict: boolean, root = true): string | undefined {
  if (root && schema['type'] !== 'object') return 'the root is no object';
  if (!strict) return undefined;
  const banned = NOT_STRICT.find((key) => key in schema);
  if (banned !== undefined) return `'${banned}' is not permitted`;
  const { properties, items, anyOf } = schema;
  if ([schema['type']].flat().includes('object')) {
    if (schema['additionalProperties'] !== false) return "'additionalProperties' is required to be false";
    const names = Object.keys(properties ?? {});
    const required = (schema['required'] ?? []) as string[];
    if (names.some((name) => !required.includes(name))) return "'required' must include every key";
  }
  const inner = [...Object.values((properties ?? {}) as Json), ...(items ? [items] : []), ...((anyOf ?? []) as Json[])];
  return inner.map((part) => schemaFault(part as Json, true, false)).find((fault) => fault !== undefined);
}

function messagesFault(messages: readonly Json[], { thinking }: Rules): string | undefined {
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    const role = String(message['role']);
    const extra = Object.keys(message).find((key) => !MESSAGE_FIELDS[role]?.includes(key));
    if (extra !== undefined || (role === 'system' && at > 0)) return `messages[${at}] is no ${role} message`;
    if (role === 'tool') {
      if (!open.includes(message['tool_call_id'])) return `messages[${at}] answers no call`;
      open = open.filter((id) => id !== message['tool_call_id']);
    } else if (open.length > 0) return `messages[${at}] comes before the answers to ${open.join(', ')}`;
    const calls = (message['tool_calls'] ?? []) as Json[];
    const content = message['content'];
    const empty = content === null ? calls.length === 0 : isEmpty(content);
    if (empty) return `messages[${at}] has no content`;
    const fault = callsFault(calls, seen);
    if (fault) return `messages[${at}]: ${fault}`;
    if (thinking && calls.length > 0 && !message['reasoning_content'])
      return 'The reasoning_content in the thinking mode must be passed back to the API';
    open.push(...calls.map(({ id }) => id));
  }
  if (open.length > 0) return `no answers to ${open.join(', ')}`;
  return messages.length === 0 ? 'there are no messages' : undefined;
}

function isEmpty(content: unknown): boolean {
  if (Array.isArray(content)) return content.length === 0;
  return typeof content !== 'string' || content.trim() === '';
}

function callsFault(calls: readonly Json[], seen: Set<unknown>): string | undefined {
  for (const { id, type, function: called } of calls) {
    if (typeof id !== 'string' || id === '' || type !== 'function') return 'a call has no id or type';
    if (seen.has(id)) return `the call id ${id} is repeated`;
    seen.add(id);
    const { arguments: args } = called as Json;
    if (typeof args !== 'string') return 'arguments are no text';
    const parsed: unknown = JSON.parse(args);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'arguments are no object';
  }
  return undefined;
}
