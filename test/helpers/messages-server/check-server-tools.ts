import { shown, words } from './json-text.ts';
import type { JsonRecord } from './json-text.ts';
import type { Violation } from './types.ts';

const FIELDS: Record<string, string[]> = {
  web_search: words('type name allowed_domains blocked_domains max_uses user_location allowed_callers cache_control'),
  web_fetch: words(
    'type name allowed_domains blocked_domains max_uses max_content_tokens citations url_sources allowed_callers cache_control',
  ),
};
const TYPE = /^(web_search|web_fetch)_\d{8}$/;

/** Checks the entry of a tool for the web that the service runs; other tools pass. */
export function* checkServerTool(tool: JsonRecord, path: string): Generator<Violation> {
  const kind = TYPE.exec(shown(tool['type']))?.[1];
  const fields = kind === undefined ? undefined : FIELDS[kind];
  if (kind === undefined || fields === undefined) return;
  const at = `${path}.${shown(tool['type'])}`;
  if (tool['name'] !== kind) yield refuse(`${at}.name: Input should be '${kind}'`);
  for (const field of Object.keys(tool)) {
    if (!fields.includes(field)) yield refuse(`${at}.${field}: Extra inputs are not permitted`);
  }
  if (tool['allowed_domains'] && tool['blocked_domains'])
    yield refuse(`${at}: Only one of allowed_domains and blocked_domains can be specified`);
  for (const field of ['allowed_domains', 'blocked_domains']) yield* checkDomains(tool[field], `${at}.${field}`);
  const uses = tool['max_uses'];
  if (uses !== undefined && uses !== null && !(Number.isInteger(uses) && Number(uses) > 0))
    yield refuse(`${at}.max_uses: Input should be greater than 0`);
}

function* checkDomains(domains: unknown, path: string): Generator<Violation> {
  if (domains === undefined || domains === null) return;
  const list: unknown[] = Array.isArray(domains) ? domains : [];
  if (list.length === 0) yield refuse(`${path}: Input should be a list that is not empty`);
  for (const domain of list) {
    if (typeof domain !== 'string' || !/^[\w-]+(\.[\w-]+)+(\/[!-~]*)?$/.test(domain))
      yield refuse(`${path}: '${shown(domain)}' is not a valid domain`);
  }
}

function refuse(message: string): Violation {
  return { rule: 'tools', message };
}
