import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALL_THOUGHT, CallScanner } from '../../src/model/xml-scanner.ts';
import type { FoundCall } from '../../src/model/xml-scanner.ts';

function scan(...pieces: string[]): FoundCall[] {
  const scanner = new CallScanner();
  const found = [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.finish()];
  return found.slice(found.lastIndexOf(ALL_THOUGHT) + 1).filter((one) => one !== ALL_THOUGHT);
}

function call(name: string, params: string): string {
  return `<tool_call><name>${name}</name><params>${params}</params></tool_call>`;
}

const READ = call('read_file', '{"path": "a"}');
const FOUND = { name: 'read_file', input_json: '{"path": "a"}' };

describe('a call', () => {
  test.each([
    ['alone', READ],
    ['behind a sentence on a line of its own', `I will read it.\n${READ}`],
    [
      'indented, with white space between its parts',
      '  <tool_call>\n <name> read_file </name>\n <params>\n{"path": "a"}\n</params>\n</tool_call> ',
    ],
    ['before more text', `${READ}\nLet me see.`],
    ['after a fence that is closed', `\`\`\`js\nx\n\`\`\`\n${READ}`],
    ['after thinking', `<think>\n${call('bash', '{}')}\n</think>\n${READ}`],
    ['right behind thinking', `Well. <think>${call('bash', '{}')}</think>${READ}`],
    ['between thoughts', `<think>a</think>\n${READ}\n<think>\n${call('bash', '{}')}\n</think>\nDone.`],
    ['after thinking whose beginning is not written', `Maybe\n${call('bash', '{}')}\n</think>\n\n${READ}`],
    ['after a result imagined in such thinking', `<tool_result>x</tool_result>\n</think>\n${READ}`],
    ['after the tags of thinking in code and quotations', `\`<think>\` and "</think>"\n> <think>\n${READ}`],
    ['with the tags of thinking around a word of its own', `<thinking>a</thinking>\n${READ}`],
    ['before the end of thinking in inline code', `${READ}\nIt ends with \`</think>\`.`],
    ['before a fence that shows the end of thinking', `${READ}\n\`\`\`\n</think>\n\`\`\`\nDone.`],
  ])('is read %s', (_place, text) => {
    expect(scan(text)).toEqual([FOUND]);
  });

  test('needs no parameters', () => {
    expect(scan('<tool_call><name>list</name></tool_call>')).toEqual([{ name: 'list', input_json: '{}' }]);
    expect(scan(call('list', ' '))).toEqual([{ name: 'list', input_json: '{}' }]);
  });

  test('is read as often as it stands there, on one line or on several', () => {
    expect(scan(`${READ}${READ} ${READ}\nand\n${READ}`)).toEqual([FOUND, FOUND, FOUND, FOUND]);
  });

  test('may hold its own tags in a string', () => {
    const params = JSON.stringify({ text: `x${READ}</params></tool_call>\n${READ}"` });
    expect(scan(`${call('write', params)}\n${READ}`)).toEqual([{ name: 'write', input_json: params }, FOUND]);
  });

  test('with broken JSON keeps its text, for the error that the model mends', () => {
    expect(scan(`${call('a', '{"x": }')}\n${READ}`)).toEqual([{ name: 'a', input_json: '{"x": }' }, FOUND]);
  });

  test('is handed out as soon as it is whole', () => {
    const scanner = new CallScanner();
    expect(scanner.push(READ.slice(0, -1))).toEqual([]);
    expect(scanner.push('>')).toEqual([FOUND]);
    expect(scanner.push('\nmore')).toEqual([]);
    expect(scanner.finish()).toEqual([]);
  });
});

describe('words and no call', () => {
  test.each([
    ['in a code fence', `\`\`\`xml\n${READ}\n\`\`\``],
    ['in a fence of tildes that holds another', `~~~~\n\`\`\`\n~~~\n${READ}\n~~~~`],
    ['in a fence that is never closed', `\`\`\`\n${READ}`],
    ['in a fence of a list', `- \`\`\`\n  ${READ}\n  \`\`\``],
    ['in inline code', `Write \`${READ}\` to call it.`],
    ['in inline code at the end of which is none', `\`\`x \` ${READ}`],
    ['in quotation marks', `It says "${READ}".`],
    ['in a quotation', `> ${READ}\n> more`],
    ['as the bare tag in a sentence', 'The tag <tool_call> begins a call, </tool_call> ends it.'],
    ['in thinking', `<think>\n${READ}\n</think>\nDone.`],
    ['in thinking that does not end', `<thinking>\n${READ}`],
    ['in thinking behind words', `Let me see.\n<think>\n${READ}\n</think>\nNo.`],
    ['in thinking at the end of a line', `Let me see. <think>\n${READ}\n</think>\nNo.`],
    ['in the second thought', `<think>a</think>\nHm.\n<think>\n${READ}\n</think>\nNo.`],
    ['in a thought right behind the first', `<think>a</think><think>\n${READ}\n</think>No.`],
    ['in thinking whose beginning is not written', `I could\n${READ}\nor not.\n</think>\n\nNo.`],
    ['in such thinking that ends in its line', `I could\n${READ}\nor not.</think>No.`],
    ['in such thinking with a fence that stays open', `${READ}\n\`\`\`\nx\n</think>\nNo.`],
    ['in thinking that names its own end', `<think>\nIt ends with </think>.\n${READ}\n</think>\nNo.`],
    ['under another name', '<tool_calls>\n<tool_caller><name>a</name></tool_caller>\n</tool_calls>'],
    ['escaped', READ.replaceAll('<', '&lt;')],
  ])('is a call %s', (_place, text) => {
    expect(scan(text)).toEqual([]);
    expect(scan(...text)).toEqual([]);
  });
});

describe('what is no call goes back with its fault, and hides nothing behind it', () => {
  test.each([
    ['unclosed', '<tool_call><name>read_file</name><params>{"path": "a"}'],
    ['unclosed', '<tool_call><name>read_file</name><params>{"path": "a"}</params>'],
    ['unclosed', 'text\n<tool_call'],
    ['unclosed', READ.replace('</tool_call>', '')],
    ['no_name', '<tool_call>{"name": "read_file", "arguments": {}}</tool_call>'],
    ['no_name', '<tool_call id="1"><name>read_file</name></tool_call>'],
    ['no_name', call(' ', '{}')],
    ['no_params', '<tool_call><name>read_file</name>{"path": "a"}</tool_call>'],
    ['no_params', '<tool_call><name>read_file</name><params>{"path": "a"}</tool_call>'],
    ['open_string', call('read_file', '{"path": "a}')],
    ['inline', `Sure: ${READ}`],
    ['inline', `- ${READ}`],
    ['thinking', `Let me see.\n<think>\n${READ}`],
    ['open_string', `${READ}\n${call('write', '{"text": "x')}\n</think>\n${READ}`],
    ['forged_result', `<tool_result>\nok\n</tool_result>\n${READ}`],
  ])('%s: %j', (fault, text) => {
    expect(scan(text)).toMatchObject([{ input_json: '{}', fault }]);
  });

  test.each([
    ['a string that stays open', `${call('write', '{"text": "x\n')}\n${READ}`],
    [
      'a call inside broken JSON',
      `<tool_call><name>write</name><params>{"text": "\n${READ}\n${READ}"}</params></tool_call>`,
    ],
    ['a call that is not closed before the next', `${READ.replace('</tool_call>', '\n')}${READ}\n${READ}`],
    ['a result that the model made up', `<tool_result>x</tool_result>\n${READ}\n${READ}`],
  ])('%s ends the reading', (_what, text) => {
    const found = scan(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.fault).toBeDefined();
  });
});

const fragment = fc.constantFrom(
  '<tool_call>',
  '</tool_call>',
  '<tool_call',
  '<name>',
  '</name>',
  '<params>',
  '</params>',
  '<tool_result>',
  '<think>',
  '</think>',
  '\n</think>\n',
  '{"a":"b"}',
  '{"a":"',
  '"}',
  '{',
  'a',
  'read',
  '\n',
  ' ',
  '```',
  '`',
  '~~~',
  '> ',
  '"',
  '\\',
  '界',
  '🧪',
  READ,
  `\n${READ}\n`,
);
const text = fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join(''));

describe('whatever the text', () => {
  test('any chopping of it gives the same calls', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(12), { maxLength: 60 }), (whole, sizes) => {
        const pieces: string[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(whole.slice(at, at + size));
          at += size;
        }
        expect(scan(...pieces, whole.slice(at))).toEqual(scan(whole));
        expect(scan(...whole)).toEqual(scan(whole));
      }),
      { numRuns: 2000 },
    );
  });

  test('a call that was written is read again exactly, around any words', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue());
    const words = fc.string().map((word) => word.replaceAll(/[<`~>\n"]/g, ''));
    fc.assert(
      fc.property(fc.array(fc.tuple(words, json), { minLength: 1, maxLength: 4 }), (parts) => {
        const written = parts.map(([word, value]) => `${word}\n${call('tool', JSON.stringify(value))}\n`).join('');
        const expected = parts.map(([, value]) => ({ name: 'tool', input_json: JSON.stringify(value) }));
        expect(scan(...written.split(/(?<=[{}":<>])/))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ['a long call', call('write', JSON.stringify({ text: 'x'.repeat(300_000) })), 1],
  [
    'a call whose string is full of closing tags',
    call('write', JSON.stringify({ text: '</tool_call>'.repeat(25_000) })),
    1,
  ],
  ['one endless line', 'word < '.repeat(40_000), 0],
  ['lines without end', 'some words\n'.repeat(25_000), 0],
  ['a line full of tags', '`<tool_call>` a <tool_call '.repeat(10_000), 0],
  ['calls without end', `${READ}\n`.repeat(4_000), 4_000],
  ['thinking without end', `<think>${`${READ}\n`.repeat(4_000)}`, 0],
  ['thoughts without end', `<think>x</think>\n`.repeat(12_000), 0],
])('%s costs a few passes, however small its pieces are', (_what, long, calls) => {
  const pieces = long.match(/[^]{1,4}/g) ?? [];
  const began = performance.now();
  expect(scan(...pieces)).toHaveLength(calls);
  // A quarter of a second where this was written; what looks at a text again for each piece takes minutes.
  expect(performance.now() - began).toBeLessThan(10_000);
});
