// The minimal client everything is compared with: the same conversation over plain HTTP, commands in a plain shell, no
// policy, no limits, nothing written. `node bench/reference.mjs TASK.json`, a file of { base_url, prompt, tools, schema }.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const task = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const url = new URL(`${task.base_url}/v1/messages`);
const agent = new Agent({ keepAlive: true });
const messages = [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }];

for (;;) {
  const { content, stop_reason } = await send();
  messages.push({ role: 'assistant', content });
  if (stop_reason !== 'tool_use') break;
  const calls = content.filter(({ type }) => type === 'tool_use');
  const results = await Promise.all(calls.map((call) => run(call)));
  messages.push({ role: 'user', content: results });
}
process.stdout.write(
  `${messages
    .at(-1)
    .content.map(({ text }) => text ?? '')
    .join('')}\n`,
);
agent.destroy();

async function send() {
  const body = JSON.stringify({
    model: 'claude-sonnet-5-5',
    max_tokens: 16_000,
    stream: true,
    ...(task.schema ? { output_config: { format: { type: 'json_schema', schema: task.schema } } } : {}),
    ...(task.tools ? { tools: task.tools } : {}),
    messages,
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-api-key': process.env.ANTHROPIC_API_KEY,
    'anthropic-version': '2023-06-01',
  };
  const response = await new Promise((resolve, reject) => {
    request(url, { method: 'POST', headers, agent }, resolve).on('error', reject).end(body);
  });
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  return read(response);
}

async function read(response) {
  const reply = { content: [], stop_reason: null };
  const inputs = [];
  let rest = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop();
    for (const frame of frames) take(JSON.parse(frame.slice(frame.indexOf('data: ') + 6)), reply, inputs);
  }
  for (const [index, text] of inputs.entries()) if (text) reply.content[index].input = JSON.parse(text);
  return reply;
}

function take(event, reply, inputs) {
  if (event.type === 'content_block_start') reply.content[event.index] = event.content_block;
  if (event.type === 'message_delta') reply.stop_reason = event.delta.stop_reason;
  if (event.type !== 'content_block_delta') return;
  const { delta, index } = event;
  if (delta.type === 'text_delta') reply.content[index].text += delta.text;
  else inputs[index] = (inputs[index] ?? '') + delta.partial_json;
}

function run({ id, input }) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', input.command], { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.on('close', () => {
      const text = Buffer.concat(chunks).toString('utf8') || '(no output)';
      resolve({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] });
    });
  });
}
