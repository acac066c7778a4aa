import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reply } from '../helpers/messages-server/reply.ts';
import { play } from './harness.ts';
import { blocksOf, lastText, messagesOf, resultsOf } from './requests.ts';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const tools = { read_file: {}, edit_file: {}, write_file: {}, bash: { allow: ['cat *', 'printf *'] } };

describe('a cut', () => {
  test('B197: never falls inside an emoji, wherever it comes', async () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = 'x'.repeat(shift) + '\u{1f600}'.repeat(2000);
      const run = await play({
        task: {
          tools: { ...tools, read_file: { max_output: '1000B' }, bash: { ...tools.bash, max_output: '1000B' } },
          context: [{ files: ['emoji.txt'], max_size: '1000B' }],
        },
        files: { 'emoji.txt': text },
        replies: [
          reply.tools([
            { name: 'read_file', input: { path: 'emoji.txt' } },
            { name: 'bash', input: { command: 'cat emoji.txt' } },
          ]),
          'done',
        ],
      });
      expect(run.code).toBe(0);
      expect(run.turns[1]?.text).not.toContain('\ufffd');
      expect(run.turns[1]?.text).toContain('left out');
    }
  });
});

describe('a file', () => {
  test('B199: that is not UTF-8 is not edited, and no byte of it changes', async () => {
    const bytes = Buffer.from([...Buffer.from('name = "caf'), 0xe9, ...Buffer.from('"\n'), 0xa9, 0x0a]);
    const run = await play({
      task: { tools },
      files: { 'cp1252.txt': bytes },
      replies: [reply.tool('edit_file', { path: 'cp1252.txt', old_str: 'name', new_str: 'title' }), 'done'],
    });
    expect(resultsOf(run.turns[1])).toMatchObject([
      { is_error: true, text: expect.stringContaining('UTF-8') as string },
    ]);
    expect(readFileSync(join(run.workspace, 'cp1252.txt')).equals(bytes)).toBe(true);
  });

  test('B201: keeps its byte order mark and the state of its last line when it is edited or rewritten', async () => {
    const withMark = Buffer.concat([BOM, Buffer.from('one\ntwo')]);
    const run = await play({
      task: { tools },
      prepare: ({ workspace }) => {
        writeFileSync(join(workspace, 'edited.txt'), withMark);
        writeFileSync(join(workspace, 'rewritten.txt'), withMark);
      },
      replies: [
        reply.tools([
          { name: 'edit_file', input: { path: 'edited.txt', old_str: 'one', new_str: 'ONE' } },
          { name: 'write_file', input: { path: 'rewritten.txt', file_text: 'all new\n' } },
        ]),
        'done',
      ],
    });
    const bytes = (name: string): Buffer => readFileSync(join(run.workspace, name));
    expect(bytes('edited.txt')).toEqual(Buffer.concat([BOM, Buffer.from('ONE\ntwo')]));
    expect(bytes('rewritten.txt')).toEqual(Buffer.concat([BOM, Buffer.from('all new\n')]));
  });
});

describe('text of others', () => {
  test('B203: that is not UTF-8 is decoded without an error', async () => {
    const run = await play({
      task: { tools },
      files: { 'odd.txt': Buffer.from([0x96, 0x41, 0xff, 0x0a]) },
      replies: [
        reply.tools([
          { name: 'bash', input: { command: "printf '\\226'" } },
          { name: 'bash', input: { command: 'cat odd.txt' } },
        ]),
        'done',
      ],
    });
    expect(run.code).toBe(0);
    expect(resultsOf(run.turns[1]).map(({ text }) => text)).toEqual(['\ufffd', '\ufffdA\ufffd']);
  });

  test('B205: with lone surrogates from the model is stored and sent back well-formed, and the run goes on', async () => {
    const content = [
      { type: 'text', text: 'half \ud83d x' },
      { type: 'tool_use', name: 'read_file', input_json: '{"path":"\\ud83d.md"}' },
    ];
    const run = await play({
      task: { tools },
      replies: [reply.message({ content }), 'the end \udc00'],
      server: { tolerate: ['reply_changed'] },
    });
    expect(run.code).toBe(0);
    expect(blocksOf(messagesOf(run.turns[1])[1])[0]?.['text']).toBe('half \ufffd x');
    expect(run.artifact('output.md')).toBe('the end \ufffd\n');
    expect(run.artifact('transcript.jsonl')?.isWellFormed()).toBe(true);
    expect(lastText(run.turns[1])).toContain('\ufffd.md');
  });
});
