import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { completionScript } from '../../src/cli/completion.ts';
import { initFolder } from '../../src/cli/init.ts';
import { schemaText } from '../../src/cli/schemas.ts';
import { REVIEW_FILES } from '../../src/cli/templates/review.ts';
import { load } from '../config/loading.ts';
import { tempFolder } from '../helpers/temp.ts';

describe('init', () => {
  test('writes a task that loads, its schema and a workflow that is YAML', async () => {
    const folder = tempFolder();
    expect(initFolder(folder, undefined)).toContain('created agent-run/review.json');
    const { task } = await load({ folder, file: 'agent-run/review.json' });
    expect(task).toMatchObject({ name: 'review', output: { schema_file: 'agent-run/review.schema.json' } });
    const workflow: unknown = parse(readFileSync(join(folder, '.github/workflows/agent-run-review.yml'), 'utf8'));
    expect(workflow).toMatchObject({ on: 'pull_request', permissions: { contents: 'read' } });
  });

  test('never overwrites: what is there stays, the rest is added', () => {
    const folder = tempFolder();
    initFolder(folder, 'sub');
    const path = join(folder, 'sub/agent-run/review.json');
    writeFileSync(path, 'mine');
    const said = initFolder(folder, 'sub');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(said.match(/kept /g)).toHaveLength(REVIEW_FILES.length);
    expect(said).toContain('next: agent-run validate sub/agent-run/review.json');
  });

  test("of a folder that is a file is the caller's mistake", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(() => initFolder(folder, 'file')).toThrow('cannot write "file/agent-run/review.json"');
  });
});

describe('schema', () => {
  test('prints the names, or one schema as it is shipped', async () => {
    const files = readdirSync(new URL('../../schemas/', import.meta.url));
    const names = files.map((file) => file.replace('.schema.json', ''));
    expect((await schemaText(undefined)).trimEnd().split('\n').sort()).toEqual(names.sort());
    const shipped: unknown = JSON.parse(
      readFileSync(new URL('../../schemas/task.schema.json', import.meta.url), 'utf8'),
    );
    expect(JSON.parse(await schemaText('task'))).toEqual(shipped);
    await expect(schemaText('tasks')).rejects.toThrow('did you mean "task"?');
  });
});

describe('completion', () => {
  test('is a script that bash accepts and that offers commands and options', () => {
    const script = completionScript();
    expect(script).toContain('--max-turns');
    expect(script).toContain('validate');
    expect(script).toContain('text json stream-json');
  });
});
