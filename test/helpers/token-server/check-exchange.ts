import type { IncomingMessage } from 'node:http';
import type { Rule } from './types.ts';

export interface Exchange {
  request: IncomingMessage;
  text: string;
  rule: Rule;
  /** Identity tokens that the issuer made, and those that were exchanged already. */
  known: readonly string[];
  exchanged: Set<string>;
}

interface Violation {
  status: number;
  error: string;
  text: string;
}

const FIELDS = [
  'grant_type',
  'assertion',
  'federation_rule_id',
  'organization_id',
  'service_account_id',
  'workspace_id',
];
const BETAS = ['oauth-2025-04-20', 'oidc-federation-2026-04-01'];

/** What is wrong with an exchange; a token that is seen a second time is answered like any other bad one. */
export function exchangeViolation({ request, text, rule, known, exchanged }: Exchange): Violation | undefined {
  const bad = (reason: string): Violation => ({ status: 400, error: 'invalid_request', text: reason });
  if (request.method !== 'POST') return bad('not a POST');
  if (request.headers.authorization !== undefined) return bad('an exchange has no authorization');
  if (request.headers['content-type'] !== 'application/json') return bad('not JSON');
  const betas = String(request.headers['anthropic-beta']).split(',');
  if (!BETAS.every((beta) => betas.includes(beta))) return bad('a beta is missing');
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null) return bad('not an object');
  const fields: Record<string, unknown> = { ...body };
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return bad(`unknown field ${unknown}`);
  if (fields['grant_type'] !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return bad('wrong grant_type');
  return assertionViolation(String(fields['assertion']), known, exchanged) ?? ruleViolation(fields, rule);
}

function assertionViolation(
  assertion: string,
  known: readonly string[],
  exchanged: Set<string>,
): Violation | undefined {
  const opaque: Violation = { status: 401, error: 'invalid_grant', text: 'assertion rejected' };
  if (!known.includes(assertion) || exchanged.has(assertion)) return opaque;
  exchanged.add(assertion);
  const claims: { nbf: number; exp: number } = JSON.parse(
    Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString(),
  );
  const now = Date.now() / 1000;
  return claims.nbf - 5 > now || claims.exp + 5 < now ? opaque : undefined;
}

function ruleViolation(fields: Record<string, unknown>, rule: Rule): Violation | undefined {
  const wanted = {
    federation_rule_id: rule.rule_id,
    organization_id: rule.organization_id,
    service_account_id: rule.service_account_id,
    workspace_id: rule.workspace_id,
  };
  const wrong = Object.entries(wanted).find(([name, value]) => fields[name] !== value);
  return wrong && { status: 401, error: 'invalid_grant', text: 'assertion rejected' };
}
