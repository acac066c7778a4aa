import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonForCi, jsonLine, logLine, logLines, markdownCode, markdownCut, markdownInlineCode, markdownText, showControls } from '../../src/core/sanitise.ts'; // prettier-ignore

/** Lines as a CI system reads them. */
const linesOf = (text: string) => text.split(/\r\n|\r|\n/);
const COMMAND = /^\s*::|##\[|##\w*\[/u;

describe('log lines', () => {
  test.each([
    ['emit-01', '::add-mask::a\n::stop-commands::x\n::set-env name=PATH::/evil'],
    ['emit-02', 'ok\r::error file=a::x'],
    ['emit-03', 'note: ##[add-mask]a\n##[add-matcher]evil.json'],
    ['Unicode spaces', '\u00a0\u2003\u3000::error::x'],
    ['unseen characters in front', '\u200b\ufeff\u001c\u0085::error::x'],
    ['another system', 'x ##vso[task.setvariable]y'],
  ])('%s: no line can be read as a command', (_id, text) => {
    expect(linesOf(logLines(text).join('\n')).filter((line) => COMMAND.test(line))).toEqual([]);
    expect(linesOf(logLine(text)).filter((line) => COMMAND.test(line))).toEqual([]);
  });

  test('no text at all gives a line that is a command', () => {
    const part = fc.constantFrom('::', '#', '##[', '[', '\r', '\n', ' ', '\u2003', '\u200b', 'a', '\\');
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ unit: 'binary' }))), (parts) => {
        for (const line of logLines(parts.join(''))) expect(COMMAND.test(line)).toBe(false);
      }),
    );
  });

  test('emit-04, emit-05: controls, bidi, zero-width and tag characters are shown as escapes', () => {
    expect(logLine('\u001b]0;title\u0007\u001b[2Jall passed')).toBe(
      String.raw`\u001b]0;title\u0007\u001b[2Jall passed`,
    );
    expect(logLine('if (admin\u202e \u2066// x\u2069')).toBe(String.raw`if (admin\u202e \u2066// x\u2069`);
    expect(logLine('a\u200bb\u{e0041}c\u{e0100}\ud83d')).toBe(String.raw`a\u200bb\u{e0041}c\u{e0100}\ud83d`);
  });

  test('ordinary text stays as it is', () => {
    for (const text of ['plain', 'std::vector', 'äöü 😀 漢字', '\ttab', '# heading [x]', 'https://example.com']) {
      expect(logLine(text)).toBe(text);
    }
    expect(showControls('a\nb\tc')).toBe('a\nb\tc');
  });
});

describe('JSON for CI', () => {
  test('has no command in it and is the same value, pretty or not', () => {
    const part = fc.constantFrom('::', ':', '##[', '##vso[', '#', '[', '\\', '"', '\u2028', '\n', 'x');
    const text = fc.array(part).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(fc.record({ a: text, [':"']: text })), fc.constantFrom(undefined, 2), (value, indent) => {
        const json = jsonForCi(JSON.stringify(value, null, indent));
        expect(JSON.parse(json)).toEqual(value);
        expect(json).not.toMatch(/::|##\w*\[|\u2028/);
      }),
    );
  });

  test('is one well-formed line', () => {
    expect(jsonLine({ a: 'x\n::y \ud83d' })).toBe(String.raw`{"a":"x\n:\u003ay ` + '\ufffd"}');
  });
});

describe('Markdown', () => {
  test('emit-07: HTML and images stay text', () => {
    const text = markdownText('<img src="https://evil.example/?k=1">![x](https://evil.example/?k=1)');
    expect(text).not.toMatch(/<img|(?<!\\)!|(?<!\\)\[|(?<!\\)\(|https?:\/\//);
  });

  test.each([
    ['a mention', 'ask @octocat', 'ask @&#8203;octocat'],
    ['an issue', 'see #12 and GH-3', String.raw`see \#&#8203;12 and GH\-&#8203;3`],
    ['a table cell', 'a | b', String.raw`a \| b`],
    ['emphasis and code', '*a* `b` _c_', String.raw`\*a\* \`b\` \_c\_`],
    ['a list', '- x\n1. y', String.raw`\- x<br>1\. y`],
    ['an address', 'www.x.org', 'www&#8203;.x.org'],
    ['what is unseen', 'a\u202eb', String.raw`a\\u202eb`],
    ['an indented block', '    code', 'code'],
  ])('%s stays text', (_what, text, expected) => {
    expect(markdownText(text)).toBe(expected);
  });

  test('a block with markup or images in it is escaped as well, and closed when it is cut', () => {
    const text = '<img src="https://e.example/?k">![x](https://e.example)</pre>\n**b** & `c`\n';
    const block = markdownCode(text, 'json');
    expect(block).toBe(
      '<pre>\n&lt;img src="https://e.example/?k"&gt;!&#91;x](https://e.example)&lt;/pre&gt;\n**b** &amp; `c`\n</pre>',
    );
    const cut = markdownCut(`${markdownCode(text.repeat(100))}\n# after`, 500, 'cut');
    expect(cut).toMatch(/\n<\/pre>\n\ncut\n$/);
    expect(cut.match(/<pre>/g)).toHaveLength(1);
  });

  test('a code block is closed by its own fence only', () => {
    expect(markdownCode('a\r\n```\nb````', 'ts')).toBe('`````ts\na\n```\nb````\n`````');
    expect(markdownCode('x', 'ts"><script>')).toBe('```\nx\n```');
    expect(markdownInlineCode('a`b')).toBe('`` a`b ``');
    expect(markdownInlineCode('src/a.ts')).toBe('`src/a.ts`');
  });

  test('emit-08: a long summary is cut at a line within the size, and its open block closed', () => {
    const text = `# Title\n${markdownCode('x'.repeat(98).concat('\n').repeat(20_000))}\nend`;
    const cut = markdownCut(text, 1024 * 1024, 'The rest is in the run folder.');
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024 * 1024);
    expect(cut.endsWith('x\n```\n\nThe rest is in the run folder.\n')).toBe(true);
    expect(markdownCut('short', 100, 'n')).toBe('short');
    expect(markdownCut('x'.repeat(2000), 1000, 'cut')).toBe('\ncut\n');
  });
});
