import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOptions } from '../../scripts/bundle-options.mjs';

test('a run without a collector loads nothing of OpenTelemetry', async () => {
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir: 'x',
    write: false,
  });
  const importers = Object.entries(metafile.inputs).flatMap(([path, { imports }]) =>
    imports
      .filter(
        (one) => one.path.includes('src/telemetry/tracing.ts') || one.path.includes('node_modules/@opentelemetry'),
      )
      .map(({ kind }) => ({ path, kind })),
  );
  const ours = importers.filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/telemetry/'));
  expect(ours).toEqual([{ path: 'src/run/telemetry.ts', kind: 'dynamic-import' }]);
});
