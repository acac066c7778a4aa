import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import type { Log } from 'sarif';
import { describe, expect, test } from 'vitest';
import { collect, type Collection } from '../../src/reports/collect.ts';
import { repositoryUri } from '../../src/reports/repository-uri.ts';
import { sarifReport } from '../../src/reports/sarif.ts';
import { tempFolder } from '../helpers/temp.ts';
import { hostileRun } from './hostile.ts';
import { resultFile, writeRun } from './run-folders.ts';

const MULTITOOL = fileURLToPath(
  new URL('../../tools/sarif/node_modules/@microsoft/sarif-multitool-linux', import.meta.url),
);
const failed = resultFile({
  run_id: 'f',
  status: 'failure',
  exit_reason: 'output_missing',
  exit_code: 3,
  output: null,
});

const sarifOf = (collection: Collection): Log => sarifReport(collection) as unknown as Log;
const fresh = (): string => join(tempFolder(), 'r');

describe('sarif', () => {
  test('has a result for each finding, with its place in the repository', async () => {
    const log = sarifOf(await collect([writeRun(fresh())], false));
    const [run] = log.runs;
    expect(run?.results).toMatchObject([
      {
        ruleId: 'no-eval',
        level: 'error',
        message: { text: 'eval runs text' },
        locations: [
          { physicalLocation: { artifactLocation: { uri: 'src/a.ts' }, region: { startLine: 3, endLine: 5 } } },
        ],
      },
      {
        ruleId: 'long',
        level: 'warning',
        locations: [{ physicalLocation: { artifactLocation: { uri: 'src/b%20c.ts' } } }],
      },
      {
        ruleId: 'finding',
        level: 'note',
        message: { text: 'the change has no test' },
        // Of the task: code scanning refuses a result without a place.
        locations: [{ physicalLocation: { artifactLocation: { uri: 'tasks/review.json' } } }],
      },
    ]);
    expect(run?.tool.driver.rules?.map(({ id }) => id)).toEqual(['no-eval', 'long', 'finding']);
    expect(run?.invocations).toMatchObject([{ executionSuccessful: true, exitCode: 0 }]);
  });

  test('puts runs of one task into one SARIF run, since code scanning refuses a second of its category', async () => {
    const root = tempFolder();
    const folders = ['1', '2'].map((id) => writeRun(join(root, id), { result: resultFile({ run_id: id }) }));
    const log = sarifOf(await collect(folders, false));
    expect(log.runs.map(({ results, invocations }) => [results?.length, invocations?.length])).toEqual([[6, 2]]);
  });

  test('has no results where a run gave no valid output: an empty list would close alerts', async () => {
    const log = sarifOf(await collect([writeRun(fresh(), { result: failed })], false));
    expect(log.runs[0]).not.toHaveProperty('results');
    expect(log.runs[0]?.invocations).toMatchObject([
      { executionSuccessful: false, exitCode: 3, toolExecutionNotifications: [{ level: 'error' }] },
    ]);
  });

  test('tells of a folder that could not be read', async () => {
    const log = sarifOf(await collect([join(tempFolder(), 'nowhere')], false));
    expect(JSON.stringify(log)).toContain('there is no run folder');
  });

  test.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a b#c?.ts', 'src/a%20b%23c%3F.ts'],
    ['/repo/src/a.ts', 'src/a.ts'],
    ['src\\win.ts', 'src/win.ts'],
    ['javascript:alert(1)', 'javascript%3Aalert(1)'],
    ['https://evil.example/x', 'https%3A/evil.example/x'],
    ['../../etc/passwd', null],
    ['/etc/passwd', null],
    ['C:/x', null],
    ['', null],
  ])('writes the path %j as %j', (path, uri) => {
    expect(repositoryUri(path, '/repo')).toBe(uri);
  });
});

describe.skipIf(!existsSync(MULTITOOL))(
  'sarif, judged by others, needs tools/sarif (npm ci --prefix tools/sarif)',
  () => {
    async function every(): Promise<Collection> {
      const root = tempFolder();
      const folders = [
        writeRun(join(root, 'a')),
        writeRun(join(root, 'b'), { result: failed }),
        hostileRun(join(root, 'c')),
      ];
      const killed = writeRun(join(root, 'd'), { result: null, run_id: 'k' });
      return collect([...folders, killed, join(root, 'nowhere')], false);
    }

    test('follows the JSON schema of SARIF 2.1.0', async () => {
      const ajv = new Ajv({ strict: false, allErrors: true });
      formats.default(ajv);
      const schema = JSON.parse(readFileSync(join(MULTITOOL, 'sarif-2.1.0.json'), 'utf8')) as object;
      const { $schema: _draft, ...plain } = schema as { $schema?: string };
      const validate = ajv.compile(plain);
      validate(sarifReport(await every()));
      expect(validate.errors ?? []).toEqual([]);
    });

    /** What the validator of the SARIF SDK finds, by these kinds of its rules. */
    async function errorsOf(collection: Collection, kinds: string): Promise<string[]> {
      const folder = tempFolder();
      writeFileSync(join(folder, 'report.sarif'), JSON.stringify(sarifReport(collection)));
      // Install scripts are off, and that of this package would do nothing but this.
      chmodSync(join(MULTITOOL, 'Sarif.Multitool'), 0o755);
      const output = ['--output', 'found.sarif', '--log', 'ForceOverwrite'];
      const args = ['validate', 'report.sarif', '--rule-kind', kinds, ...output];
      const env = { PATH: process.env['PATH'], HOME: folder, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1' };
      await promisify(execFile)(join(MULTITOOL, 'Sarif.Multitool'), args, { cwd: folder, env }).catch(() => undefined);
      const found = JSON.parse(readFileSync(join(folder, 'found.sarif'), 'utf8')) as Log;
      const errors = (found.runs[0]?.results ?? []).filter(({ level }) => level === 'error');
      return errors.map(({ ruleId, message }) => `${ruleId} ${JSON.stringify(message)}`);
    }

    test('has no error for the validator of the SARIF SDK', async () => {
      expect(await errorsOf(await every(), 'Sarif')).toEqual([]);
    });

    test('is what GitHub code scanning takes, when every run gave an output', async () => {
      expect(await errorsOf(await collect([writeRun(fresh())], false), 'Sarif;Ghas')).toEqual([]);
    });
  },
);
