import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer, type Answer } from './routes.ts';
import type { Fault, GithubOptions, GithubServer, Recorded } from './types.ts';

/** All the state of one server. */
export interface State {
  options: Required<GithubOptions>;
  server: Pick<GithubServer, 'comments' | 'requests' | 'violations'>;
  faults: (Fault & { times: number })[];
  url: string;
}

/** Starts a stand-in for GitHub's REST and GraphQL services on 127.0.0.1 that refuses what GitHub would. */
export async function startGithubServer(given: GithubOptions = {}): Promise<GithubServer> {
  const options = {
    token: 'ghs_0123456789abcdef',
    login: 'github-actions[bot]',
    installation: true,
    graphql: true,
    comments: [],
    pulls: [],
    issues: [5],
    ...given,
  };
  const state: State = {
    options,
    server: { comments: [...options.comments], requests: [], violations: [] },
    faults: [],
    url: '',
  };
  let act: (request: Recorded) => void = () => {};
  const server = createServer((request, response) => void serve(state, { request, response, act }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  state.url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    ...state.server,
    url: state.url,
    fail: (...faults) => void state.faults.push(...faults.map((fault) => ({ times: 1, ...fault }))),
    onRequest: (next) => void (act = next),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  act: (request: Recorded) => void;
}

async function serve(state: State, { request, response, act }: Exchange): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // a stream without an encoding yields buffers
  const text = Buffer.concat(chunks).toString('utf8');
  const recorded: Recorded = { method: request.method ?? '', path: request.url ?? '', body: parsed(text) };
  act(recorded);
  state.server.requests.push(recorded);
  const fault = takeFault(state, recorded);
  if (fault?.drop === 'before') return void response.destroy();
  const faulty = fault && fault.drop === undefined ? faultAnswer(fault) : undefined;
  const reply = faulty ?? answer(state, recorded, request.headers);
  if (fault?.drop === 'after') return void response.destroy();
  send(response, reply);
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return new SyntaxError('no JSON');
  }
}

function takeFault(state: State, { method, path }: Recorded): Fault | undefined {
  const fault = state.faults.find(({ on, times }) => times > 0 && `${method} ${path}`.startsWith(on));
  if (fault) fault.times -= 1;
  return fault;
}

function faultAnswer({ status = 500, headers = {}, message = 'Server Error' }: Fault): Answer {
  return { status, headers, body: { message, documentation_url: 'https://docs.github.com/rest' } };
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}
