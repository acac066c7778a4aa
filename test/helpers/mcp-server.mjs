// An MCP server of ours over stdio, in plain JSON-RPC, that can misbehave. Its first argument is JSON:
// { tools, behaviour, name }; see HANDLERS and TOOLS for what it does.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
const { behaviour = '' } = options;
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const plain = { type: 'object', properties: {} };

const TOOLS = {
  echo: {
    description: 'Says its text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    call: ({ text: said }) => text(`said: ${said}`),
  },
  environment: { inputSchema: plain, call: () => text(JSON.stringify(process.env)) },
  fail: { inputSchema: plain, call: () => ({ ...text('it went wrong'), isError: true }) },
  long: { inputSchema: plain, call: () => text(`begin ${'x'.repeat(options.bytes ?? 100_000)} end`) },
  structured: { inputSchema: plain, call: () => ({ content: [], structuredContent: { a: [1, 2] } }) },
  picture: {
    inputSchema: plain,
    call: () => ({
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'doc://a', text: 'words' } },
        { type: 'strange' },
      ],
    }),
  },
  answer: { inputSchema: plain, call: ({ result }) => result },
  die: { inputSchema: plain, call: () => process.exit(3) },
  hang: { inputSchema: plain, call: () => undefined },
  garbage: { inputSchema: plain, call: () => void process.stdout.write('{"jsonrpc":"2.0","id":}\n') },
  flood: { inputSchema: plain, call: () => flood() },
  children: {
    inputSchema: { type: 'object', properties: { seconds: { type: 'string' } } },
    call({ seconds }) {
      spawn('sleep', [seconds], { detached: true, stdio: 'ignore' }).unref();
      return text('started');
    },
  },
  write: {
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    call({ path }) {
      writeFileSync(path, 'written');
      return text('written');
    },
  },
  read: {
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    call: ({ path }) => text(readFileSync(path, 'utf8')),
  },
  change: {
    inputSchema: plain,
    call() {
      send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      delete TOOLS.echo;
      return text('changed');
    },
  },
  sample: {
    inputSchema: plain,
    call() {
      send({ jsonrpc: '2.0', id: 'ask', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
      return undefined;
    },
  },
};

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function flood() {
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'f'.repeat(65_000) } })}\n`;
  const more = () => {
    while (process.stdout.write(line));
    process.stdout.once('drain', more);
  };
  more();
}

function listed() {
  if (options.tools) return options.tools.map((tool) => ({ inputSchema: plain, ...tool }));
  if (behaviour === 'lists what a file says') {
    const names = readFileSync('tools.txt', 'utf8').trim().split('\n');
    return names.map((name) => ({ name, description: names.join(), inputSchema: plain }));
  }
  return Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema }));
}

let sampling;
const HANDLERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'stub', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': ({ cursor }) => {
    const all = listed();
    if (behaviour !== 'pages') return { tools: all };
    const at = Number(cursor ?? 0);
    return { tools: all.slice(at, at + 3), ...(at + 3 < all.length ? { nextCursor: String(at + 3) } : {}) };
  },
  'tools/call': ({ name, arguments: input }, id) => {
    if (name === 'sample') sampling = id;
    if (options.tools) return text(`${name} was called`);
    try {
      return Object.hasOwn(TOOLS, name) ? TOOLS[name].call(input) : undefined;
    } catch (error) {
      return { ...text(String(error)), isError: true };
    }
  },
};

if (behaviour === 'prints its environment') process.stderr.write(`${JSON.stringify(process.env)}\n`);
if (behaviour === 'dies at start') {
  process.stderr.write('first line\nno such database\n');
  process.exit(4);
}
if (behaviour === 'hangs on exit') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}
if (behaviour === 'talks') process.stdout.write('Server running on stdio\n');

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, error } = JSON.parse(line);
  if (id === 'ask') send({ jsonrpc: '2.0', id: sampling, result: text(`sampling: ${error?.message}`) });
  if (id === undefined || method === undefined || behaviour === `never answers ${method}`) return;
  const result = HANDLERS[method]?.(params ?? {}, id);
  if (result) send({ result, jsonrpc: '2.0', id });
});
