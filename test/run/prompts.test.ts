import { describe, expect, test } from 'vitest';
import { plan } from '../../src/run/plan.ts';
import { replay } from '../../src/run/replay.ts';
import { resume } from '../../src/run/resume.ts';
import { calls, configOf, ofType, tell, told } from './harness.ts';

const PROMPTS = {
  system: '{{ rules }}\n{{ result }}\n規則: {{ task }}',
  tool_description: '{{ description }} Use it sparingly.',
  limit_reminder: '回合已用完 ({{ reason }}): {{ hand_over }} 🛑',
};
const TASK = { system: 'Be brief.', tools: { read_file: {} }, prompts: PROMPTS, limits: { max_turns: 2 } };
const TURNS = [calls(['read_file', { path: 'README.md' }]), { text: 'hello it is' }];

describe('a run with prompts of its own', () => {
  test('says them, records them, and is replayed with them', async () => {
    const run = await tell({ task: TASK, turns: TURNS });
    expect(run.outcome).toMatchObject({ reason: 'completed', limit_reached: { reason: 'max_turns' } });
    const [start] = ofType(run.events, 'run_start');
    expect(start?.system).toMatch(/^You work unattended[^]*規則: Be brief\.$/);
    expect(start?.tools[0]?.description).toMatch(/ Use it sparingly\.$/);
    expect(start?.task.prompt_templates).toEqual(PROMPTS);
    const said = ofType(run.events, 'user_message').at(-1)?.content;
    expect(said).toEqual([
      { type: 'text', text: '回合已用完 (max_turns): give your final answer now as plain text 🛑' },
    ]);
    expect(await replay(run)).toMatchObject({ matches: true, divergence: null });
  });

  test('goes on with them from its transcript alone', async () => {
    const limits = { max_turns: 1, on_limit: 'stop' };
    const run = await tell({ task: { ...TASK, limits }, turns: TURNS });
    expect(run.exit_code).toBe(4);
    const env = { PATH: process.env['PATH'] ?? '' };
    const more = { max_turns: 2, on_limit: 'finalize' as const };
    const request = { run_dir: run.run_dir, limits: more, allow_changed: false, env, subscribers: () => [] };
    const resumed = told(await resume(request), run.workspace);
    expect(resumed.outcome.reason).toBe('completed');
    expect(JSON.stringify(ofType(resumed.events, 'user_message').at(-1))).toContain('回合已用完 (max_turns)');
    expect(await replay(resumed)).toMatchObject({ matches: true });
  });

  test('shows what they say with sample values before it is run', async () => {
    const { config, folder } = await configOf({ task: TASK });
    const report = await plan({ config, env: { PATH: process.env['PATH'] ?? '' }, cwd: folder });
    expect(report.prompts).toMatchObject({ limit_reminder: '回合已用完 (max_turns): call submit_result now 🛑' });
  });

  test('keeps a secret of the environment out of what it says', async () => {
    const env = { DEPLOY_TOKEN: 'hush-hush-0123456789' };
    const prompts = { limit_reminder: `The token is ${env.DEPLOY_TOKEN}.` };
    const run = await tell({ task: { ...TASK, prompts }, turns: TURNS, env });
    expect(run.artifact('transcript.jsonl')).not.toContain(env.DEPLOY_TOKEN);
    expect(await replay(run)).toMatchObject({ matches: true });
  });
});
