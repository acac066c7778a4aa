import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Judgement, ToolOutput } from '../../src/core/ports.ts';
import { createPolicy } from '../../src/policy/policy.ts';
import { createBuiltinTools } from '../../src/tools/builtin.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { exec } from '../../src/workspace/exec.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { toolContext } from '../tools/tool-context.ts';
import { type Check, type FileCase, type Fixture, makeFixture, plainBoundary, rulesOf, setUp } from './case-fixture.ts';
import handed from './cases-files.json' with { type: 'json' };
import own from './own-cases-files.json' with { type: 'json' };

const TOOLS: Record<string, string> = { read: 'read_file', write: 'write_file', edit: 'edit_file' };
const FIELDS: Record<string, string> = { content: 'file_text', old: 'old_str', new: 'new_str' };

interface Ran {
  verdict: Judgement['verdict'] | 'invalid';
  reason: string;
  output: ToolOutput | undefined;
  text: string;
  ms: number;
  grown_mb: number;
}

/** The call of a case as a model would send it. */
function callOf({ tool, input }: FileCase, fixture: Fixture): { name: string; json: string } {
  if (tool === 'tool-input') {
    const name = String(input['tool']);
    return { name: TOOLS[name] ?? name, json: fixture.fill(String(input['inputText'])) };
  }
  const fields = Object.entries(input).map(([key, value]) => [FIELDS[key] ?? key, value]);
  const json = JSON.stringify(Object.fromEntries(fields), (_key, value: unknown) =>
    typeof value === 'string' ? fixture.fill(value) : value,
  );
  return { name: TOOLS[tool] ?? tool, json };
}

async function partsFor(testCase: FileCase, root: string) {
  const rules = rulesOf(testCase);
  const { task, run } = testCase.policy;
  const files = await createFiles(root);
  const policy = createPolicy({ rules, files, protectedFiles: [task, run].filter((path) => path !== undefined) });
  const boundary = plainBoundary(root);
  const readStored = () => Promise.resolve({ ok: false as const, reason: 'nothing is stored' });
  const tools = createBuiltinTools(['read_file', 'glob', 'grep', 'write_file', 'edit_file', 'bash', 'git'], {
    files,
    exec,
    boundary,
    cwd: root,
    readStored,
    shows: { images: false, pdfs: false },
  });
  return { policy, registry: createRegistry(tools) };
}

async function run(testCase: FileCase, fixture: Fixture): Promise<Ran> {
  const { policy, registry } = await partsFor(testCase, fixture.root);
  const { name, json } = callOf(testCase, fixture);
  const began = performance.now();
  const memory = process.memoryUsage().rss;
  const ran = await judgeAndRun(policy, registry, name, json);
  const grown_mb = (process.memoryUsage().rss - memory) / 2 ** 20;
  return { ...ran, ms: performance.now() - began, grown_mb };
}

type Parts = Awaited<ReturnType<typeof partsFor>>;

async function judgeAndRun(policy: Parts['policy'], registry: Parts['registry'], name: string, json: string) {
  const parsed = registry.parse(name, json);
  if (!parsed.ok) return { verdict: 'invalid' as const, reason: parsed.error, output: undefined, text: parsed.error };
  const call = { id: 'toolu_1', name, input: parsed.input };
  const judged = await policy.judge(call);
  if (judged.verdict !== 'allow')
    return { verdict: judged.verdict, reason: judged.reason, output: undefined, text: judged.reason };
  const output = await registry.get(name)?.execute(call, judged.plan, toolContext().context);
  const text = output?.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n') ?? '';
  return { verdict: 'allow' as const, reason: '', output, text };
}

/** What a check of a case found wrong. */
function checkProblem(check: Check, fixture: Fixture, ran: Ran): string | undefined {
  const path = fixture.fill(check.path ?? '');
  const text = fixture.fill(check.text ?? '');
  const holds: Record<string, () => boolean> = {
    noPath: () => !existsSync(path),
    fileEquals: () => readFileSync(path, 'utf8') === text,
    outputHas: () => ran.text.includes(text),
    outputLacks: () => !ran.text.includes(text),
    endsWithin: () => ran.ms < (check.ms ?? 0),
    memoryBelow: () => ran.grown_mb < (check.mb ?? 0),
    noPollution: () => Object.keys(Object.prototype).length === 0,
  };
  return holds[check.type]?.() === true ? undefined : `${JSON.stringify(check)} does not hold: ${ran.text}`;
}

function verdictProblem({ expected }: FileCase, fixture: Fixture, ran: Ran): string | undefined {
  const harmed = existsSync(join(fixture.root, 'pwn'));
  const done = ran.verdict === 'allow' && ran.output?.status === 'ok';
  if (expected === 'deny' && (ran.verdict === 'allow' || ran.reason.length < 10 || harmed))
    return `was not refused: ${ran.text}`;
  return expected === 'allow' && !done ? `was not done: ${ran.text}` : undefined;
}

function named(cases: readonly FileCase[]): [string, FileCase][] {
  return cases.map((each) => [`${each.id} ${each.expected}: ${each.description}`, each]);
}

describe.each([
  ['handed', handed as FileCase[]], // JSON of the shape that its conventions describe
  ['own', own as FileCase[]],
])('the %s file and git cases', (_kind, cases) => {
  test.each(named(cases))('%s', async (_name, testCase) => {
    const fixture = makeFixture();
    await setUp(fixture, testCase.setup);
    const ran = await run(testCase, fixture);
    const checks = (testCase.check ?? []).map((check) => checkProblem(check, fixture, ran));
    const problems = [verdictProblem(testCase, fixture, ran), ...checks];
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });
});
