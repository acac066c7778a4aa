import { describe, expect, test } from 'vitest';
import { allowsHost, isInternal, parseHostRule } from '../../src/sandbox/hosts.ts';
import type { HostRule } from '../../src/sandbox/hosts.ts';

function rules(...texts: string[]): HostRule[] {
  return texts.map((text) => {
    const rule = parseHostRule(text);
    if ('error' in rule) throw new Error(rule.error);
    return rule;
  });
}

describe('a list of hosts', () => {
  test.each([
    ['example.com', 443],
    ['EXAMPLE.com', 80],
    ['example.com.', 443],
  ])('allows %s on port %i', (host, port) => {
    expect(allowsHost(rules('example.com'), host, port)).toBe(true);
  });

  test.each([
    ['evil-example.com', 443],
    ['sub.example.com', 443],
    ['example.com.evil.net', 443],
    ['example.com', 22],
    ['example.com\0.evil.net', 443],
    ['example.com%00', 443],
    ['user@example.com', 443],
    ['éxample.com', 443],
    ['2130706433', 443],
    ['0x7f.1', 443],
    ['', 443],
  ])('refuses %j on port %i', (host, port) => {
    expect(allowsHost(rules('example.com'), host, port)).toBe(false);
  });

  test('anchors sub-domains at a dot and leaves out the name itself only if it is not named', () => {
    const list = rules('*.example.com');
    expect(allowsHost(list, 'a.b.example.com', 443)).toBe(true);
    expect(allowsHost(list, 'notexample.com', 443)).toBe(false);
  });

  test('takes a port of its own', () => {
    expect(allowsHost(rules('localhost:8080'), 'localhost', 8080)).toBe(true);
    expect(allowsHost(rules('localhost:8080'), 'localhost', 443)).toBe(false);
  });

  test.each(['', 'https://example.com', 'exa mple.com', '*', '*.1.2.3.4', 'example.com:99999', '-a.com'])(
    'refuses the rule %j',
    (text) => {
      expect(parseHostRule(text)).toHaveProperty('error');
    },
  );
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '192.168.0.1',
  '172.20.0.1',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:127.0.0.1',
  '0.0.0.0',
])('%s is inside', (address) => {
  expect(isInternal(address)).toBe(true);
});

test.each(['8.8.8.8', '172.32.0.1', '2606:4700::1111'])('%s is outside', (address) => {
  expect(isInternal(address)).toBe(false);
});
