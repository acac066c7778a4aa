import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, type Redactor } from '../../src/journal/redact.ts';

const CANARY = 'c4nary"with\\quote/and+plus Ünïcode==';
const PLAIN = 'plain-canary-8317';
const redactor = createRedactor({ env: { GITHUB_TOKEN: CANARY, MY_PASSWORD: PLAIN }, extra_names: [] });
const { redact } = redactor;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The same text through a stream, in pieces of the given lengths, over and over. */
function streamed(source: Redactor, text: string, lengths: readonly number[]): string {
  const stream = source.textStream();
  let out = '';
  let at = 0;
  for (let piece = 0; at < text.length; piece += 1) {
    const length = Math.max(1, lengths[piece % lengths.length] ?? 1);
    out += stream.push(text.slice(at, at + length));
    at += length;
  }
  return out + stream.end();
}

describe('known values', () => {
  test.each<[string, string]>([
    ['as they stand', CANARY],
    ['escaped in JSON', JSON.stringify(CANARY).slice(1, -1)],
    ['escaped in JSON twice', JSON.stringify(JSON.stringify(CANARY)).slice(3, -3)],
    [
      'escaped in ASCII JSON',
      JSON.stringify(CANARY)
        .slice(1, -1)
        .replaceAll('Ü', '\\u00dc')
        .replaceAll('ï', '\\u00EF')
        .replaceAll('\\u00EF', '\\u00ef'),
    ],
    ['URL-encoded', encodeURIComponent(CANARY)],
    ['URL-encoded in lower case', encodeURIComponent(CANARY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['as a form field', new URLSearchParams({ a: CANARY }).toString().slice(2)],
    ['in hex', Buffer.from(CANARY).toString('hex')],
    ['in upper-case hex', Buffer.from(CANARY).toString('hex').toUpperCase()],
    ['in HTML', CANARY.replaceAll('"', '&quot;')],
  ])('are masked %s', (_form, text) => {
    expect(redact(`before ${text} after`)).toBe('before [redacted] after');
  });

  test.each([0, 1, 2, 3, 4, 5])('are masked in base64 with %d bytes before them', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${'x'.repeat(before)}${CANARY} tail`).toString(encoding);
      expect(redact(text).length).toBeLessThan(text.length);
      const left = redact(text).replace('[redacted]', '');
      expect(text).not.toBe(redact(text));
      expect(Buffer.from(left, 'base64').toString('latin1')).not.toContain('nary');
    }
  });

  test('are masked in base64 whose lines are broken anywhere', () => {
    const text = base64(`export A=1\n${PLAIN}${PLAIN}\n`);
    for (const line_break of ['\n', '\r\n', '\\n', '\\r\\n', '\\\\n']) {
      for (let width = 1; width < 30; width += 1) {
        const broken = text.match(new RegExp(`.{1,${width}}`, 'g'))?.join(line_break) ?? '';
        expect([width, redact(broken).split('[redacted]').length]).toEqual([width, 3]);
      }
    }
  });

  test('are masked line by line when they have several', () => {
    const key = '-----BEGIN KEY-----\nfirst-line-of-key\nsecond-line-of-key\n-----END KEY-----';
    const several = createRedactor({ env: { DEPLOY_KEY: key }, extra_names: [] });
    expect(several.redact('a second-line-of-key b')).toBe('a [redacted] b');
    expect(several.redact(key)).toBe('[redacted]');
    expect(several.redact('-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----');
  });

  test('are masked whole where they overlap each other or a token shape', () => {
    const values = ['ghp_overlapA', 'overlapAndMore', 'tail!secret'];
    const { redact: mask } = createRedactor({ env: {}, extra_names: [], values });
    expect(mask('x ghp_overlapAndMore y')).toBe('x [redacted] y');
    expect(mask(`x ghp_${'a'.repeat(30)}tail!secret y`)).toBe('x [redacted] y');
  });
});

describe('which variables hold secrets', () => {
  const value = 'value-8317-abc';
  const isMasked = (name: string, extra_names: string[] = []) =>
    createRedactor({ env: { [name]: value }, extra_names }).redact(value) === '[redacted]';

  test.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_CUSTOM_HEADERS', 'GITHUB_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
    'ACTIONS_ID_TOKEN_REQUEST_URL', 'ACTIONS_RUNTIME_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'DB_PASSWORD', 'PGPASSWORD', 'INPUT_ANTHROPIC-API-KEY',
    'npm_token', 'MY_SECRET', 'SECRET_KEY_BASE', 'GH_PAT'])('%s does', (name) => {
    expect(isMasked(name)).toBe(true);
  }); // prettier-ignore

  test.each([
    'PATH',
    'ANTHROPIC_MODEL',
    'ANTHROPIC_BASE_URL',
    'MAX_TOKENS',
    'SSH_PUBLIC_KEY',
    'INPUT_COMMENT-KEY',
    'CORP_PIN',
    'PWD',
  ])('%s does not', (name) => {
    expect(isMasked(name)).toBe(false);
  });

  test('names of the task are globs, and their values may be short', () => {
    expect(isMasked('CORP_PIN', ['CORP_*'])).toBe(true);
    const { redact: mask } = createRedactor({
      env: { CORP_PIN: 'x7q2', CORP_ON: 'true' },
      extra_names: ['CORP_*'],
      values: [],
    });
    expect(mask('pin x7q2 true')).toBe('pin [redacted] true');
  });

  test('short, common and path-like values of the built-in names are left alone', () => {
    const env = { A_KEY: 'short', B_PASSWORD: 'changeme', C_KEY: '/etc/ssl/private/site.pem', D_TOKEN: '********' };
    const text = Object.values(env).join(' ');
    expect(createRedactor({ env, extra_names: [] }).redact(text)).toBe(text);
  });

  test('the password inside an address is one, whatever the variable is called', () => {
    const env = { DATABASE: 'postgres://app:s3cr3t-pass-1@db/app' };
    expect(createRedactor({ env, extra_names: [] }).redact('is s3cr3t-pass-1 here')).toBe('is [redacted] here');
  });
});

describe('texts that pass through', () => {
  const pieces = fc.constantFrom(CANARY, PLAIN, JSON.stringify(CANARY), base64(`a${PLAIN}b`), `ghp_${'a1B2'.repeat(9)}`, 'Authorization: Bearer abcDEF123456789',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----', 'https://u:pw@h/', 'sk-', 'sk-abc1234567890123456', '\\', '\n', '"', 'plain-', '😀', ' ', 'eyJhbGciOi.eyJzdWIiOi.abc', 'x'.repeat(700)); // prettier-ignore
  const texts = fc
    .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 14 })
    .map((list) => list.join(''));

  test('are the same when redacted twice', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(redact(redact(text))).toBe(redact(text));
      }),
      { numRuns: 500 },
    );
  });

  test('come out of a stream as they come out whole, however they are split', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, lengths, (text, split) => {
        expect(streamed(redactor, text, split)).toBe(redact(text));
      }),
      { numRuns: 500 },
    );
  });

  test('stay JSON when they were JSON', () => {
    const tricky = createRedactor({ env: {}, extra_names: [], values: ['nsecret-12', 'ends-with\\', 'u0041secret'] });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(pieces, fc.constantFrom('\nsecret-12', 'ends-with\\', '"', '\u0001', 'Asecret'))),
        (list) => {
          const text = JSON.stringify({ [list.join('')]: list });
          expect(() => JSON.parse(tricky.redact(redact(text)))).not.toThrow();
        },
      ),
    );
    expect(tricky.redact('"\\nsecret-12"')).toBe('"[redacted]"');
  });

  test('keep bytes that are no text', () => {
    const bytes = redactor.stream();
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256));
    const input = Buffer.concat([noise, Buffer.from(CANARY, 'utf8'), noise]);
    const out = Buffer.concat([...Array.from(input, (byte) => bytes.push(Uint8Array.of(byte))), bytes.end()]);
    expect(out.equals(Buffer.concat([noise, Buffer.from('[redacted]'), noise]))).toBe(true);
  });

  test('are held back only as far as needed, and a token without end is swallowed as it comes', () => {
    const stream = redactor.textStream();
    let out = stream.push('y '.repeat(2000));
    expect(out.length).toBeGreaterThan(1000);
    for (let index = 0; index < 100; index += 1) out += stream.push(`${index === 0 ? 'ghp_' : ''}${'a'.repeat(1000)}`);
    out += stream.push(' done') + stream.end();
    expect(out).toBe(`${'y '.repeat(2000)}[redacted] done`);
  });
});
