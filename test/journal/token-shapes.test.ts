import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/journal/redact.ts';

const { redact } = createRedactor({ env: {}, extra_names: [] });
const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const pem = (kind: string, body: string) => `-----BEGIN ${kind}-----${body}-----END ${kind}-----`;

describe('tokens nobody told us about', () => {
  test.each<[string, string, string]>([
    ['a GitHub token', `is ghp_${random}.`, 'is [redacted].'],
    ['a GitHub app token after an escape', `"\\nghs_${random}"`, '"\\n[redacted]"'],
    ['a GitHub token in a coloured line', `\u001b[32mgho_${random}\u001b[0m`, '\u001b[32m[redacted]\u001b[0m'],
    ['a fine-grained GitHub token', `github_pat_${random}_${random}`, '[redacted]'],
    ['an Anthropic key', `key=sk-ant-api03-${random}-AA`, 'key=[redacted]'],
    ['an OpenAI key', `sk-proj-${random}`, '[redacted]'],
    ['a key in a coloured line', `\u001b[32msk-${random}`, '\u001b[32m[redacted]'],
    ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE x', '[redacted] x'],
    ['an AWS secret', `aws_secret_access_key = ${random}abcd`, 'aws_secret_access_key = [redacted]'],
    ['a Slack token', `xoxb-123456789012-${random}`, '[redacted]'],
    ['a Slack webhook', `https://hooks.slack.com/services/T000/B000/${random}`, 'https://hooks.slack.com/services/[redacted]'],
    ['an npm token', `//r/:_authToken=npm_${random}`, '//r/:_authToken=[redacted]'],
    ['a GitLab token', `glpat-${random}`, '[redacted]'],
    ['a JSON Web Token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${random}`, '[redacted]'],
    ['a Google key', `AIza${random}`, '[redacted]'],
    ['a password in an address', 'git clone https://me:pass@host/x', 'git clone https://me:[redacted]@host/x'],
    ['an Authorization header', `Authorization: Bearer ${random}`, 'Authorization: Bearer [redacted]'],
    ['basic credentials', 'AUTHORIZATION: basic dXNlcjpwYXNz', 'AUTHORIZATION: basic [redacted]'],
    ['an Authorization header in JSON', `{"authorization":"Bearer ${random}"}`, '{"authorization":"Bearer [redacted]"}'],
    ['an Authorization header in JSON in JSON', `"{\\"authorization\\":\\"token ${random}\\"}"`, '"{\\"authorization\\":\\"token [redacted]\\"}"'],
    ['an Authorization header of a list', `["Authorization", "Bearer ${random}"]`, '["Authorization", "Bearer [redacted]"]'],
    ['an API key header', `x-api-key: ${random}`, 'x-api-key: [redacted]'],
    ['a private key', pem('RSA PRIVATE KEY', '\nMIIE+/=\nabc\n'), pem('RSA PRIVATE KEY', '[redacted]')],
    ['a private key in JSON', JSON.stringify(pem('PRIVATE KEY', '\nMIIE\n')), `"${pem('PRIVATE KEY', '[redacted]')}"`],
    ['a private key in a diff', pem('EC PRIVATE KEY', '\n+MIIE\n+abc\n+'), pem('EC PRIVATE KEY', '[redacted]')],
    ['a private key that is cut', '-----BEGIN PRIVATE KEY-----\nMIIEabc\nabc…', '-----BEGIN PRIVATE KEY-----[redacted]…'],
  ])('%s is masked', (_what, text, expected) => {
    expect(redact(text)).toBe(expected);
  }); // prettier-ignore

  test.each([
    'risk-assessment-and-mitigation-2026-plan',
    'the task-12345678901234567890 is done',
    'Authorization: Bearer ${token}',
    'Authorization: Bearer <your token>',
    'the authorization: basic authentication scheme',
    'anthropic-api-key: ${{ secrets.ANTHROPIC_API_KEY }}',
    'npm_config_registry and npm_lifecycle_event',
    'https://example.com:8080/path@2',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    '8a9f55d83f42bd7183894c009528a9f55d83f42b',
  ])('%s is left alone', (text) => {
    expect(redact(text)).toBe(text);
  });
});
