import { expect, test } from 'vitest';
import type { ModelConfig } from '../../src/core/config.ts';
import { credentialsAdvice } from '../../src/run/credentials-advice.ts';
import { modelConfig } from '../model/setup.ts';

const RULE = { ANTHROPIC_FEDERATION_RULE_ID: 'fdrl_1', ANTHROPIC_ORGANIZATION_ID: 'org' };
const RULE_ADVICE = 'check the rule that ANTHROPIC_FEDERATION_RULE_ID names';

test.each<[what: string, model: Partial<ModelConfig>, env: Record<string, string>, advice: string | undefined]>([
  ['its key', {}, { ANTHROPIC_API_KEY: 'k' }, 'set ANTHROPIC_API_KEY'],
  ['its key, which goes before a rule', {}, { ANTHROPIC_API_KEY: 'k', ...RULE }, 'set ANTHROPIC_API_KEY'],
  ['its token', {}, { ANTHROPIC_AUTH_TOKEN: 't', ...RULE }, 'set ANTHROPIC_AUTH_TOKEN'],
  ['its rule', {}, RULE, RULE_ADVICE],
  ['its rule beside an empty key', {}, { ANTHROPIC_API_KEY: ' ', ...RULE }, RULE_ADVICE],
  ['the key its task names', { api_key_env: 'MY_KEY' }, RULE, 'set MY_KEY'],
  ["its cloud's credentials", { platform: 'bedrock' }, RULE, "set AWS's credentials"],
  ['the key of its own service', { provider: 'openai' }, RULE, 'set OPENAI_API_KEY'],
  [
    'a key for another endpoint',
    { provider: 'openai', base_url: 'https://llm.example/v1' },
    {},
    'name the variable of its key in model.api_key_env',
  ],
  ['nothing', { provider: 'script' }, {}, undefined],
])('a run that was refused is told to mend %s', (_what, model, env, advice) => {
  expect(credentialsAdvice({ ...modelConfig(), ...model }, env)).toBe(advice);
});
