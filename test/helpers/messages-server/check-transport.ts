import type { IncomingHttpHeaders } from 'node:http';
import { findLoneSurrogate, isRecord, readJsonText } from './json-text.ts';
import type { JsonNode, JsonRecord } from './json-text.ts';
import type { ServerOptions, Violation } from './types.ts';

export const MAX_BODY_BYTES = 32 * 1024 * 1024;
const VERSIONS = ['2023-06-01', '2026-10-21'];

/** A request body that is at least a JSON object. */
export interface Decoded {
  text: string;
  body: JsonRecord;
  node: JsonNode;
}

/** Checks credentials and the API version. */
export function* checkHeaders(headers: IncomingHttpHeaders, options: ServerOptions): Generator<Violation> {
  const auth = options.auth ?? 'bearer';
  const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  const keyHeader = headers['x-api-key'];
  const apiKey = typeof keyHeader === 'string' && keyHeader.trim() !== '' ? keyHeader : undefined;
  const key = auth === 'bearer' ? bearer : auth === 'x-api-key' ? apiKey : (bearer ?? apiKey);
  if (key === undefined) {
    const wanted = auth === 'x-api-key' ? 'x-api-key header is required' : 'Authorization: Bearer header is required';
    yield unauthorized(wanted);
  } else if (options.api_key !== undefined && key !== options.api_key) {
    yield unauthorized(auth === 'x-api-key' ? 'invalid x-api-key' : 'Invalid bearer token');
  }
  const version = headers['anthropic-version'];
  if (version === undefined) yield { rule: 'version', message: 'anthropic-version: header is required' };
  else if (!VERSIONS.includes(String(version))) {
    yield { rule: 'version', message: `anthropic-version: "${String(version)}" is not a valid version` };
  }
}

/** Reads a body of at most 32 MB as UTF-8 and JSON; the text is empty when it is larger. */
export function decodeBody(bytes: Buffer, tooLarge: boolean): Decoded | Violation {
  if (tooLarge) {
    return { rule: 'size', message: 'Request exceeds the maximum size', status: 413, type: 'request_too_large' };
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // A TypeError: the bytes are not UTF-8.
    return { rule: 'encoding', message: 'The request body is not valid JSON: it is not well-formed UTF-8' };
  }
  try {
    const node = readJsonText(text);
    const body: unknown = JSON.parse(text);
    if (!isRecord(body))
      return { rule: 'json', message: 'Input should be a valid dictionary or object to extract fields from' };
    const broken = findLoneSurrogate(node);
    if (broken === undefined) return { text, body, node };
    return { rule: 'encoding', message: `The request body is not valid JSON: no low surrogate in string: ${broken}` };
  } catch (error) {
    // A SyntaxError from JSON.parse.
    return {
      rule: 'json',
      message: `The request body is not valid JSON: ${error instanceof Error ? error.message : ''}`,
    };
  }
}

function unauthorized(message: string): Violation {
  return { rule: 'auth', message, status: 401, type: 'authentication_error' };
}
