// Whole runs that send their spans to a collector on this machine.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run, type RunResult, type TaskFile } from '../../src/api/main.ts';
import { tempTree } from '../helpers/temp.ts';

interface Sent {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

interface Body {
  resourceSpans: { resource: { attributes: Sent['attributes'] }; scopeSpans: { spans: Sent[] }[] }[];
}

interface Collector {
  url: string;
  spans: Sent[];
  resources: Sent['attributes'][];
  headers: Record<string, unknown>[];
  text(): string;
}

/** An OTLP endpoint that takes JSON and answers with `status`, or never. */
async function collector(status: number | 'never' = 200): Promise<Collector> {
  const bodies: string[] = [];
  const found: Collector = { url: '', spans: [], resources: [], headers: [], text: () => bodies.join('\n') };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (status === 'never') return;
      bodies.push(Buffer.concat(parts).toString('utf8'));
      const body = JSON.parse(bodies.at(-1) ?? '') as Body; // what the exporter writes; each test looks into it
      found.headers.push({ ...request.headers, path: request.url });
      found.resources.push(...body.resourceSpans.map(({ resource }) => resource.attributes));
      found.spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  found.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server's address is an object
  return found;
}

const TASK: TaskFile = {
  name: 'traced',
  prompt: 'Read notes.txt. PROMPT-BODY',
  model: {
    provider: 'script',
    id: 'played',
    script: {
      turns: [
        { error: { status: 529, type: 'overloaded_error' } },
        {
          tool_use: [
            { name: 'read_file', input: { path: 'notes.txt' } },
            { name: 'bash', input: { command: 'rm -rf /' } },
          ],
          usage: { input_tokens: 100, output_tokens: 20 },
        },
        { text: 'ANSWER-BODY', usage: { input_tokens: 130, output_tokens: 5 } },
      ],
    },
  },
  tools: { read_file: {}, bash: { allow: ['ls'] } },
};

async function traced(env: Record<string, string>, task = TASK): Promise<RunResult> {
  const cwd = tempTree({ 'notes.txt': 'NOTES-BODY' });
  return run(task, { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } });
}

const named = (found: Collector, name: string): Sent[] => found.spans.filter((span) => span.name === name);
const attributes = (span: Sent | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

describe('a run with a collector in its environment', () => {
  test('sends a span for the run, each turn, each request and each call, one inside the other', async () => {
    const found = await collector();
    const { result, remark } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: found.url });
    expect([result.status, remark]).toEqual(['success', undefined]);
    const [root] = named(found, 'invoke_agent traced');
    expect(root?.parentSpanId).toBeUndefined();
    expect(new Set(found.spans.map(({ traceId }) => traceId)).size).toBe(1);
    const turns = ['turn 1', 'turn 2'].flatMap((name) => named(found, name));
    expect(turns.map(({ parentSpanId }) => parentSpanId)).toEqual([root?.spanId, root?.spanId]);
    expect(named(found, 'chat played').map(({ parentSpanId, kind }) => [parentSpanId, kind])).toEqual([
      [turns[0]?.spanId, 3],
      [turns[0]?.spanId, 3],
      [turns[1]?.spanId, 3],
    ]);
    expect(named(found, 'execute_tool read_file')[0]?.parentSpanId).toBe(turns[0]?.spanId);
    for (const span of found.spans) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  }, 60_000);

  test('describes them by the GenAI conventions, failures included', async () => {
    const found = await collector();
    const { result } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: found.url, OTEL_SERVICE_NAME: 'reviews' });
    expect(attributes(named(found, 'invoke_agent traced')[0])).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'traced',
      'gen_ai.conversation.id': result.run_id,
      'agent_run.exit_reason': 'completed',
    });
    const [overloaded, first] = named(found, 'chat played');
    expect(overloaded?.status.code).toBe(2);
    expect(attributes(overloaded)).toMatchObject({
      'error.type': 'overloaded_error',
      'http.response.status_code': 529,
    });
    expect(attributes(first)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'played',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.response.finish_reasons': { values: [{ stringValue: 'tool_use' }] },
    });
    const [denied] = named(found, 'execute_tool bash');
    expect(denied?.status).toEqual({ code: 2, message: 'denied' });
    expect(attributes(denied)).toMatchObject({ 'gen_ai.tool.name': 'bash', 'agent_run.tool.status': 'denied' });
    const [resource = []] = found.resources;
    expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'reviews' } });
  }, 60_000);

  test('sends no prompt, no input and no output', async () => {
    const found = await collector();
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: found.url });
    expect(found.spans.length).toBeGreaterThan(5);
    expect(found.text()).not.toMatch(/-BODY|rm -rf/);
  }, 60_000);

  test('becomes a part of the trace of the CI, and shows the headers that were given', async () => {
    const found = await collector();
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await traced({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${found.url}/own`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-key',
      TRACEPARENT: `00-${trace}-b7ad6b7169203331-01`,
    });
    expect(named(found, 'invoke_agent traced')[0]).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331' });
    expect(found.headers[0]).toMatchObject({ authorization: 'Bearer collector-key', path: '/own' });
  }, 60_000);

  test('tells how a failed run ended', async () => {
    const found = await collector();
    const script = { turns: [{ error: { status: 401, type: 'authentication_error' } }] };
    await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: found.url }, { ...TASK, model: { provider: 'script', script } });
    const [root] = named(found, 'invoke_agent traced');
    expect(root?.status).toEqual({ code: 2, message: 'auth_error' });
    expect(attributes(root)).toMatchObject({ 'error.type': 'auth_error', 'agent_run.exit_code': 6 });
  }, 60_000);
});

test('shows no secret: neither in an attribute, nor in what is said of a failure', async () => {
  const found = await collector();
  const secrets = { CORP_ID: 'corporate-secret-7', OTEL_RESOURCE_ATTRIBUTES: 'team=corporate-secret-7' };
  await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: found.url, ...secrets }, { ...TASK, redact: ['CORP_*'] });
  expect(found.spans.length).toBeGreaterThan(0);
  expect(found.text()).not.toContain('corporate-secret-7');
  const { remark } = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:pass-word-99@127.0.0.1:9' });
  expect(remark).toMatch(/^spans were not delivered/);
  expect(remark).not.toContain('pass-word-99');
}, 60_000);

describe('a collector that fails changes nothing of the run', () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    ['that refuses', async () => (await collector(400)).url, /^spans were not delivered: /],
    ['that is not there', async () => 'http://127.0.0.1:9', /^spans were not delivered: /],
    ['that never answers', async () => (await collector('never')).url, /did not take the last spans within 1000 ms/],
    ['of another protocol', async () => 'ftp://host', /^no spans are sent: the endpoint "ftp:/],
  ])(
    'one %s',
    async (_what, url, remark) => {
      const started = performance.now();
      const told = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: await url() });
      expect([told.result.status, told.result.warnings.length]).toEqual(['success', 0]);
      expect(told.remark).toMatch(remark);
      expect(performance.now() - started).toBeLessThan(20_000);
    },
    60_000,
  );
});
