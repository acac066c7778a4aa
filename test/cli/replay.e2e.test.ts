import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useCli } from '../helpers/cli.ts';
import { tempTree } from '../helpers/temp.ts';

const cli = useCli();
const turns = [{ tool_use: [{ name: 'read_file', input: { path: 'README.md' } }] }, { text: 'done' }];
const task = {
  prompt: 'Say it.',
  model: { provider: 'script', script: { turns } },
  tools: { read_file: {} },
  sandbox: { mode: 'off' },
};

/** A folder with a run in `out`. */
async function recorded(): Promise<string> {
  const cwd = tempTree({ 'task.json': JSON.stringify(task), 'README.md': 'hello\n' });
  expect((await cli.run(['task.json', '--out', 'out'], { cwd })).code).toBe(0);
  return cwd;
}

function tamper(cwd: string, from: string, to: string): void {
  const file = join(cwd, 'out/transcript.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}

describe('agent-run replay', () => {
  test('says on stderr that all is as recorded, with 0', async () => {
    const cwd = await recorded();
    rmSync(join(cwd, 'README.md'));
    const { code, stdout, stderr } = await cli.run(['replay', 'out'], { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^agent-run: replay of out: all \d+ events are as recorded\n$/);
  });

  test('ends with 9 and the first difference on both streams', async () => {
    const cwd = await recorded();
    tamper(cwd, '"value_text":"done"', '"value_text":"DONE"');
    const { code, stdout, stderr } = await cli.run(['replay', 'out', '--format', 'json'], { cwd });
    expect(code).toBe(9);
    const divergence = { turn: 2, path: 'value_text', expected: 'DONE', got: 'done' };
    expect(JSON.parse(stdout)).toMatchObject({ matches: false, divergence });
    expect(stderr).toContain('  expected: "DONE"\n  got:      "done"\n');
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^agent-run: gate_failed \(exit 9\): the replay left the recording at event \d+ \(turn 2\)/,
    );
  });

  test('runs calls again with --tools live, in the workspace it is given', async () => {
    const cwd = await recorded();
    const same = await cli.run(['replay', 'out', '--tools', 'live'], { cwd });
    expect(same.code).toBe(0);
    const other = tempTree({ 'README.md': 'other\n' });
    const { code, stderr } = await cli.run(['replay', 'out', '--tools=live', '--workspace', other], { cwd });
    expect(code).toBe(9);
    expect(stderr).toContain('call toolu_script_001_1 of read_file');
  });

  test.each([
    [['replay'], 'no run folder given'],
    [['replay', 'nowhere'], 'there is no transcript'],
    [['replay', 'out', '--tools', 'real'], 'expected "recorded" or "live"'],
    [['replay', 'out', '--max-turns', '3'], 'unknown option --max-turns of "replay"'],
  ])('refuses %j', async (argv, message) => {
    const { code, stderr } = await cli.run(argv, { cwd: await recorded() });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

test('a task plays a recorded run as its model, and what it leaves can be replayed as well', async () => {
  const cwd = await recorded();
  const demo = { ...task, model: { provider: 'replay', replay: 'out' } };
  writeFileSync(join(cwd, 'demo.json'), JSON.stringify(demo));
  const { code, stdout } = await cli.run(['demo.json', '--out', 'again'], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
  expect((await cli.run(['replay', 'again'], { cwd })).code).toBe(0);
});
