import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SLOW } from './test/helpers/suites.ts';
import { vitePageBundle } from './scripts/page-bundle.mjs';

// What takes long runs in CI, with `npm run check -- --all`, and when it is named.
const wantsSlow =
  process.env['AGENT_RUN_SUITES'] === 'all' || process.argv.slice(2).some((word) => /^(?:\.\/)?test\//.test(word));

export default defineConfig({
  plugins: [vitePageBundle],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/model-e2e/**', // npm run test:model
      ...(wantsSlow ? [] : SLOW),
    ],
    globals: false,
    reporters: ['default', './test/helpers/closing-line.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    // Most tests wait for processes, so two files share a core well; the default on two cores is one worker.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real processes on a busy machine: a limit here is against hanging, never a measure of speed.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
