import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { MCP_SERVER, mcpServerCommand } from '../../helpers/mcp-command.ts';
import { checkProblem, leakProblem } from './checks.ts';
import { closeFixture, makeFixture, type Fixture } from './fixture.ts';
import { playHere } from './play.ts';
import { setUp } from './setup.ts';
import { taskOf, turnsFor, type Call } from './task.ts';
import { factsOf } from './verdict.ts';
import type { SecurityCase } from './cases.ts';
import type { Played } from './play.ts';
import type { Play } from './tool-case.ts';

const SCRIPT = 'server.mjs';

interface Stub {
  tools: string[];
  call: Call;
  options: Record<string, unknown>;
}

/** Plays a case whose input says how an MCP server behaves; what is wrong with how it went. */
export async function mcpProblems(one: SecurityCase, play: Play = playHere): Promise<string[]> {
  const fixture = await makeFixture();
  try {
    return await problemsOf(one, fixture, play);
  } finally {
    closeFixture(fixture);
  }
}

async function problemsOf(one: SecurityCase, fixture: Fixture, play: Play): Promise<string[]> {
  await setUp(fixture, one.setup);
  copyFileSync(MCP_SERVER, join(fixture.workspace, SCRIPT)); // a sandbox shows it there
  const { tools, call, options } = stubOf(one);
  const [command = '', ...args] = mcpServerCommand(options, SCRIPT);
  const all = taskOf({ ...one, policy: { ...one.policy, bash: ['echo *'] } }, turnsFor(call));
  const task = JSON.stringify({ ...all, mcp_servers: { stub: { command, args, tools } } });
  const played = await play(fixture, { task });
  const scene = { fixture, played, originals: new Map<string, string>() };
  const checks = (one.check ?? []).map((check) =>
    check.type === 'builtinIntact' ? builtinProblem(played) : checkProblem(check, scene),
  );
  return [startProblem(options, played), leakProblem(scene), ...checks].filter((problem) => problem !== undefined);
}

function stubOf({ input }: SecurityCase): Stub {
  const { tools, result, behaviour } = input as { tools?: { name: string }[]; result?: object; behaviour?: string };
  const served = (name: string): Call => ({ name: `mcp__stub__${name}`, input_json: '{}' });
  if (tools) {
    const names = tools.map(({ name }) => name);
    const builtin = { name: 'bash', input_json: '{"command":"echo the built-in one"}' };
    return { tools: names, call: names.includes('bash') ? builtin : served(names[0] ?? ''), options: { tools } };
  }
  if (result) return { tools: ['long'], call: served('long'), options: result as Record<string, unknown> };
  return { tools: ['environment'], call: served('environment'), options: { behaviour } };
}

/** Only a server that never answers ends the run; all others are called, and answer. */
function startProblem({ behaviour }: Stub['options'], played: Played): string | undefined {
  const refused = played.exit_code === 2 && (played.refused ?? '').includes('MCP server "stub"');
  if (behaviour === 'never answers initialize') return refused ? undefined : `not refused: ${played.log}`;
  return factsOf(played).end ? undefined : `was not called: ${played.refused ?? played.log}`;
}

function builtinProblem(played: Played): string | undefined {
  const { text } = factsOf(played);
  return text === 'the built-in one' ? undefined : `bash is another tool: ${text}`;
}
