import type { IncomingHttpHeaders } from 'node:http';
import type { State } from './server.ts';
import type { Comment, Recorded } from './types.ts';

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

const MAX_BODY = 65_536;
const NOT_FOUND: Answer = { status: 404, body: { message: 'Not Found' } };

/** What GitHub answers to a request; every breach of its rules is noted too. */
export function answer(state: State, request: Recorded, headers: IncomingHttpHeaders): Answer {
  const refused = checkHeaders(state, request, headers);
  if (refused) return refused;
  const { pathname, searchParams } = new URL(request.path, state.url);
  const route = `${request.method} ${pathname}`;
  if (route === 'POST /graphql') return graphql(state, request);
  if (route === 'GET /user') return user(state);
  if (route === 'GET /repos/o/r/pulls') return pulls(state, searchParams);
  const ofIssue = /^(GET|POST) \/(?:repos\/o\/r|repositories\/1)\/issues\/(\d+)\/comments$/.exec(route);
  if (ofIssue) {
    const issue = Number(ofIssue[2]);
    if (!state.options.issues.includes(issue)) return NOT_FOUND;
    return ofIssue[1] === 'GET' ? list(state, issue, searchParams) : create(state, issue, request);
  }
  const one = /^(PATCH|DELETE) \/repos\/o\/r\/issues\/comments\/(\d+)$/.exec(route);
  if (one) return change(state, Number(one[2]), request);
  return violation(state, NOT_FOUND, `${route} is no route`);
}

function violation(state: State, reply: Answer, sentence: string): Answer {
  state.server.violations.push(sentence);
  return reply;
}

function checkHeaders(
  state: State,
  { method, path, body }: Recorded,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  const at = `${method} ${path}`;
  if (headers.authorization !== `Bearer ${state.options.token}`)
    return violation(state, { status: 401, body: { message: 'Bad credentials' } }, `${at}: no valid token`);
  if (!headers['user-agent'])
    return violation(state, { status: 403, body: { message: 'no user agent' } }, `${at}: no user agent`);
  if (headers.accept !== 'application/vnd.github+json')
    return violation(state, { status: 415, body: { message: 'Unsupported' } }, `${at}: accept is ${headers.accept}`);
  if (path !== '/graphql' && headers['x-github-api-version'] !== '2022-11-28')
    return violation(state, { status: 400, body: { message: 'version' } }, `${at}: no version of the API`);
  if (body !== undefined && headers['content-type'] !== 'application/json')
    return violation(state, { status: 400, body: { message: 'type' } }, `${at}: content-type`);
  if (body instanceof SyntaxError)
    return violation(state, { status: 400, body: { message: 'Problems parsing JSON' } }, `${at}: no JSON`);
  return undefined;
}

function graphql({ options }: State, { body }: Recorded): Answer {
  if (!options.graphql) return { status: 403, body: { message: 'Resource not accessible by integration' } };
  const query = fieldOf(body, 'query');
  if (!/^\s*(?:query\s*)?\{\s*viewer\s*\{\s*login\s*\}\s*\}\s*$/.test(query ?? ''))
    return { status: 200, body: { errors: [{ message: 'not understood' }] } };
  return { status: 200, body: { data: { viewer: { login: options.login } } } };
}

function user({ options }: State): Answer {
  if (options.installation) return { status: 403, body: { message: 'Resource not accessible by integration' } };
  return { status: 200, body: { login: options.login, type: 'User' } };
}

function pulls({ options }: State, query: URLSearchParams): Answer {
  const found = options.pulls.filter(({ head }) => head.label === query.get('head'));
  return { status: 200, body: found };
}

function list(state: State, issue: number, query: URLSearchParams): Answer {
  const size = Math.min(Number(query.get('per_page') ?? 30), 100);
  const page = Number(query.get('page') ?? 1);
  const all = state.server.comments.filter((comment) => comment.issue === issue);
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (to: number, rel: string): string =>
    `<${state.url}/repositories/1/issues/${issue}/comments?per_page=${size}&page=${to}>; rel="${rel}"`;
  const links =
    page < last
      ? [link(page + 1, 'next'), link(last, 'last')]
      : page > 1
        ? [link(page - 1, 'prev'), link(1, 'first')]
        : [];
  const body = all.slice((page - 1) * size, page * size).map((comment) => shown(comment));
  return { status: 200, headers: links.length > 0 ? { link: links.join(', ') } : {}, body };
}

function create(state: State, issue: number, { body }: Recorded): Answer {
  const text = fieldOf(body, 'body');
  const refused = checkText(state, text);
  if (refused) return refused;
  const id = Math.max(0, ...state.server.comments.map((comment) => comment.id)) + 1;
  const { login } = state.options;
  const comment: Comment = {
    id,
    issue,
    body: text ?? '',
    user: { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' },
  };
  state.server.comments.push(comment);
  return { status: 201, body: shown(comment) };
}

/** A token that may write may change the comments of everybody, as on GitHub. */
function change(state: State, id: number, { method, body }: Recorded): Answer {
  const { comments } = state.server;
  const at = comments.findIndex((comment) => comment.id === id);
  const comment = comments[at];
  if (comment === undefined) return NOT_FOUND;
  if (method === 'DELETE') {
    comments.splice(at, 1);
    return { status: 204 };
  }
  const text = fieldOf(body, 'body');
  const refused = checkText(state, text);
  if (refused) return refused;
  comment.body = text ?? '';
  return { status: 200, body: shown(comment) };
}

function checkText(state: State, text: string | undefined): Answer | undefined {
  const problem =
    text === undefined || text.trim() === ''
      ? "body can't be blank"
      : [...text].length > MAX_BODY
        ? `body is too long (maximum is ${MAX_BODY} characters)`
        : undefined;
  if (problem === undefined) return undefined;
  const errors = [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message: problem }];
  return violation(state, { status: 422, body: { message: 'Validation Failed', errors } }, problem);
}

function shown({ id, issue, body, user: author }: Comment): object {
  return { id, body, user: author, html_url: `https://github.example/o/r/pull/${issue}#issuecomment-${id}` };
}

function fieldOf(body: unknown, name: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}
