import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { follow } from '../../src/run/interrupts.ts';
import { plan } from '../../src/run/plan.ts';
import { replay } from '../../src/run/replay.ts';
import { liveTools } from '../../src/run/replay-live.ts';
import { resume } from '../../src/run/resume.ts';
import { run } from '../../src/run/run.ts';
import { MCP_SERVER, mcpServerCommand } from '../helpers/mcp-command.ts';
import { processesWith, uniqueSeconds } from '../helpers/processes.ts';
import { writeTree } from '../helpers/temp.ts';
import { missing } from '../sandbox/inside.ts';
import { calls, configOf, ofType, tell, told, type Story, type Told } from './harness.ts';
import type { Interrupts } from '../../src/run/interrupts.ts';

/** A task with one server, the stub. */
function server(tools: string[], more: Record<string, unknown> = {}, options: Record<string, unknown> = {}) {
  const script = options['script'];
  const [command = '', ...args] = mcpServerCommand(options, typeof script === 'string' ? script : undefined);
  return { mcp_servers: { stub: { command, args, tools, ...more } } };
}

function results({ events }: Told): string[] {
  return ofType(events, 'tool_end').map(({ status, content }) => {
    const [block] = content;
    return `${status}: ${block?.type === 'text' ? block.text : ''}`;
  });
}

const done = { text: 'done' };

describe('a task with an MCP server', () => {
  test('calls its tools, under the rules of the task, and leaves no process behind', async () => {
    const mark = uniqueSeconds();
    const turns = [calls(['mcp__stub__echo', { text: 'a' }], ['mcp__stub__fail', {}], ['mcp__stub__long', {}]), done];
    const task = server(['echo', 'fail'], { read_only: ['echo'] }, { mark });
    const ran = await tell({ task, turns });
    expect(ran.outcome.reason).toBe('completed');
    expect(results(ran)).toEqual([
      'ok: said: a',
      'error: it went wrong',
      expect.stringMatching(/^(unknown|invalid|denied): /),
    ]);
    expect(ofType(ran.events, 'tool_start').map(({ effect }) => effect)).toEqual(['read', 'write']);
    expect(ofType(ran.events, 'run_start')[0]?.tools.map(({ name }) => name)).toEqual([
      'mcp__stub__echo',
      'mcp__stub__fail',
    ]);
    expect(processesWith(mark)).toEqual([]);
  });

  test('keeps apart tools of its own and those that a server calls the same', async () => {
    const tools = ['read_file', 'submit_result', 'mcp__stub__echo'];
    const stub = server(tools, {}, { tools: tools.map((name) => ({ name })) });
    const turns = [
      calls(['read_file', { path: 'README.md' }], ['mcp__stub__read_file', {}], ['mcp__stub__submit_result', {}]),
      calls(['submit_result', {}], ['mcp__stub__mcp__stub__echo', {}], ['mcp__stub__echo', {}]),
      done,
    ];
    const ran = await tell({ task: { ...stub, tools: { read_file: true } }, turns });
    expect(results(ran)).toEqual([
      'ok:      1\thello',
      'ok: read_file was called',
      'ok: submit_result was called',
      expect.stringMatching(/^unknown: /),
      'ok: mcp__stub__echo was called',
      expect.stringMatching(/^unknown: /),
    ]);
  });

  test('checks an input by the schema of the tool, and counts its calls', async () => {
    const turns = [
      calls(['mcp__stub__echo', { text: 1 }]),
      calls(['mcp__stub__echo', { text: 'a' }]),
      calls(['mcp__stub__echo', { text: 'b' }]),
      done,
    ];
    const ran = await tell({ task: server(['echo'], { max_calls: 1 }), turns });
    expect(results(ran)).toEqual([
      expect.stringMatching(/^invalid: .*\/text/),
      'ok: said: a',
      expect.stringMatching(/^(?!ok)/),
    ]);
  });

  test('ends with code 2 before any request when the server does not answer in time', async () => {
    const task = server(['echo'], { timeout: '500ms' }, { behaviour: 'never answers initialize' });
    const ran = await tell({ task, turns: [done] });
    expect([ran.exit_code, ran.outcome.reason]).toEqual([2, 'mcp_unavailable']);
    expect(ran.message).toContain('MCP server "stub": did not answer within 500 ms');
    expect(ofType(ran.events, 'run_start')).toEqual([]);
  });

  test('gives it the variables it lists, keeps its stderr redacted, and masks secrets in what it says', async () => {
    const env = {
      OTHER_TOKEN: 'other-secret-value',
      STUB_TOKEN: 'stub-secret-value',
      ANTHROPIC_API_KEY: 'key-secret-value',
    };
    const task = server(['environment'], { env: ['STUB_TOKEN'] }, { behaviour: 'prints its environment' });
    const ran = await tell({ task, env, turns: [calls(['mcp__stub__environment', {}]), done] });
    const [text = ''] = results(ran);
    const stderr = ran.artifact('outputs/mcp-stub.stderr.txt') ?? '';
    for (const seen of [text, stderr]) {
      expect(seen).toContain('STUB_TOKEN');
      expect(seen).not.toMatch(/OTHER_TOKEN|ANTHROPIC_API_KEY|-secret-value/);
    }
  });

  test('refuses a variable that would change what the server runs', async () => {
    const ran = await tell({ task: server(['echo'], { env: ['NODE_OPTIONS'] }), turns: [done] });
    expect([ran.exit_code, ran.message]).toEqual([2, expect.stringContaining('mcp_servers.stub.env: NODE_OPTIONS')]);
  });

  test('starts nothing in a dry run, and names the tools', async () => {
    const { config, folder } = await configOf({ task: server(['echo'], {}, { behaviour: 'dies at start' }) });
    expect((await plan({ config, env: {}, cwd: folder })).tools).toEqual(['mcp__stub__echo']);
  });
});

describe('a run with an MCP server', () => {
  const story: Story = {
    task: server(['echo', 'die', 'hang']),
    turns: [calls(['mcp__stub__echo', { text: 'a' }], ['mcp__stub__echo', {}]), calls(['mcp__stub__die', {}]), done],
  };

  test('is replayed without its server, event by event', async () => {
    const ran = await tell(story);
    expect(await replay({ run_dir: ran.run_dir })).toMatchObject({ matches: true, divergence: null });
  });

  test('says in a notice that its server changed its tools, and that it died, and goes on', async () => {
    const names = ['echo', 'change', 'die'];
    const turns = names.map((name) => calls([`mcp__stub__${name}`, name === 'echo' ? { text: 'a' } : {}]));
    const ran = await tell({ task: server(names), turns: [...turns, { text: 'done' }] });
    expect(results(ran)).toEqual(['ok: said: a', 'ok: changed', expect.stringMatching(/^error: .*"stub" is gone/)]);
    expect(ofType(ran.events, 'notice').map(({ code }) => code)).toEqual(['mcp_list_changed', 'mcp_gone']);
    expect(await replay({ run_dir: ran.run_dir })).toMatchObject({ matches: true, divergence: null });
  });

  test('starts its server again when the tools of a replay are live', async () => {
    const ran = await tell({ task: server(['echo']), turns: [calls(['mcp__stub__echo', { text: 'a' }]), done] });
    const env = { PATH: process.env['PATH'] ?? '' };
    const live = liveTools({ env, cwd: ran.workspace, run_dir: ran.run_dir });
    onTestFinished(() => live.dispose());
    expect(await replay({ run_dir: ran.run_dir, live })).toMatchObject({ matches: true, divergence: null });
  });

  test('goes on with the same tools, and is refused when the server has others', async () => {
    const task = {
      ...server(['echo'], {}, { behaviour: 'lists what a file says' }),
      limits: { max_turns: 1, on_limit: 'stop' },
    };
    const echo = calls(['mcp__stub__echo', { text: 'a' }]);
    const first = await tell({ task, turns: [echo, echo, done], files: { 'tools.txt': 'echo\n' } });
    expect(first.outcome.reason).toBe('max_turns');
    const goOn = async (max_turns: number, interrupts?: Interrupts): Promise<Told> => {
      const env = { PATH: process.env['PATH'] ?? '' };
      const { run_dir } = first;
      const limits = { max_turns };
      const asked = interrupts ? { interrupts } : {};
      const going = { run_dir, limits, allow_changed: true, env, subscribers: () => [], ...asked };
      return told(await resume(going), first.workspace);
    };
    expect((await goOn(2, follow(AbortSignal.abort()))).outcome.reason).toBe('cancelled');
    expect(results(await goOn(2))).toEqual(['ok: said: a', 'ok: said: a']);
    writeTree(first.workspace, { 'tools.txt': 'echo\nother\n' });
    await expect(goOn(3)).rejects.toMatchObject({ reason: 'mcp_unavailable' });
  });

  test('ends when it is cancelled during a call, and ends the server', async () => {
    const mark = uniqueSeconds();
    const task = {
      ...server(['hang'], {}, { mark, behaviour: 'hangs on exit' }),
      limits: { timeout: '2s', on_limit: 'stop' },
    };
    const ran = await tell({ task, turns: [calls(['mcp__stub__hang', {}]), done] });
    expect(ran.outcome.reason).toBe('timeout');
    expect(results(ran)).toEqual([expect.stringMatching(/^cancelled/)]);
    expect(processesWith(mark)).toEqual([]);
  });

  test('that is over its time while the server starts ends as such, with the server gone', async () => {
    const mark = uniqueSeconds();
    const task = {
      ...server(['echo'], {}, { mark, behaviour: 'never answers initialize' }),
      limits: { timeout: '1s', on_limit: 'stop' },
    };
    const { config, folder, workspace } = await configOf({ task, turns: [done] });
    const env = { PATH: process.env['PATH'] ?? '' };
    const ran = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(ran.outcome.reason).toBe('timeout');
    expect(processesWith(mark)).toEqual([]);
  });
});

describe.skipIf(missing)('an MCP server in the sandbox (needs bubblewrap)', () => {
  const inSandbox = { sandbox: { mode: 'required' } };

  test('reads the workspace, not its git settings nor the run, writes nothing, and leaves no trace', async () => {
    const at = (path: string): Record<string, unknown> => ({ path });
    const turns = [
      calls(
        ['mcp__stub__read', at('README.md')],
        ['mcp__stub__write', at('new.txt')],
        ['mcp__stub__read', at('../task.json')],
        ['mcp__stub__read', at('.git/config')],
      ),
      calls(['glob', { pattern: '**' }]),
      done,
    ];
    const task = { ...server(['read', 'write'], {}, { script: 'server.mjs' }), ...inSandbox, tools: { glob: true } };
    const files = { 'server.mjs': readFileSync(MCP_SERVER, 'utf8') };
    const { config, folder, workspace } = await configOf({ task, turns, files });
    spawnSync('git', ['init', '-q'], { cwd: workspace });
    spawnSync('git', ['config', 'http.extraheader', 'in-the-settings'], { cwd: workspace });
    const env = { PATH: process.env['PATH'] ?? '' };
    const ran = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(results(ran)[0]).toBe('ok: hello\n');
    expect(results(ran).slice(1, 3)).toEqual([expect.stringContaining('EROFS'), expect.stringContaining('ENOENT')]);
    expect(results(ran)[3]).toMatch(/^ok: \[core\]/);
    expect(JSON.stringify(ran.events)).not.toContain('in-the-settings');
    expect(results(ran)[4]).toBe('ok: README.md\nserver.mjs');
    expect(existsSync(join(workspace, 'new.txt'))).toBe(false);
    expect(ran.artifact('changes.patch')).toBeUndefined();
  });

  test('writes to a folder that the task names, and nothing beside it; the patch tells', async () => {
    const turns = [
      calls(
        ['mcp__stub__write', { path: 'reports/new.txt' }],
        ['mcp__stub__write', { path: 'AGENTS.md' }],
        ['mcp__stub__environment', {}],
      ),
      done,
    ];
    const files = { 'server.mjs': readFileSync(MCP_SERVER, 'utf8'), 'reports/old.txt': 'old\n' };
    const task = {
      ...server(['write', 'environment'], {}, { script: 'server.mjs' }),
      sandbox: { mode: 'required', write: ['.', 'reports'], network: true },
    };
    const { config, folder, workspace } = await configOf({ task, turns, files });
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
    ])
      spawnSync('git', args, { cwd: workspace });
    const env = { PATH: process.env['PATH'] ?? '', WORDS: 'of-the-runner' };
    const ran = told(await run({ config, env, cwd: folder, subscribers: () => [] }), workspace);
    expect(results(ran).slice(0, 2)).toEqual(['ok: written', expect.stringContaining('EROFS')]);
    expect(results(ran)[2]).not.toContain('of-the-runner');
    const named = ran.artifact('changes.patch')?.match(/^diff --git .*$/gm);
    expect(named).toEqual(['diff --git a/reports/new.txt b/reports/new.txt']);
  });
});
