import { describe, expect, test } from 'vitest';
import type { Tool } from '../../src/core/ports.ts';
import { createBuiltinTools } from '../../src/tools/builtin.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { workspace } from './tool-context.ts';

const ALL = ['git', 'bash', 'edit_file', 'write_file', 'grep', 'glob', 'read_file'];

async function builtins(names: readonly string[] = ALL): Promise<Tool[]> {
  const { files, root } = await workspace();
  return createBuiltinTools(names, {
    files,
    cwd: root,
    exec: () => Promise.reject(new Error('no process is started here')),
    boundary: {
      state: { mode: 'off', active: 'none', detail: '' },
      env: {},
      wrap: (argv, cwd) => ({ argv: [...argv], cwd, env: {} }),
    },
    readStored: () => Promise.resolve({ ok: false, reason: 'nothing is stored' }),
    shows: { images: true, pdfs: true },
  });
}

async function error(name: string, text: string): Promise<string> {
  const parsed = createRegistry(await builtins()).parse(name, text);
  return parsed.ok ? `accepted ${JSON.stringify(parsed.input)}` : parsed.error;
}

describe('the definitions', () => {
  test('come in one order, whatever order the task names the tools in', async () => {
    const names = (tools: Tool[]) => createRegistry(tools).definitions.map((definition) => definition.name);
    expect(names(await builtins())).toEqual(['read_file', 'glob', 'grep', 'write_file', 'edit_file', 'bash', 'git']);
    expect(names(await builtins(['git', 'read_file']))).toEqual(['read_file', 'git']);
  });

  test('are the same when they are read back as they were sent', async () => {
    const tools = await builtins();
    const { definitions } = createRegistry(tools);
    const again = createRegistry(
      tools.map((tool, at) => ({ ...tool, definition: definitions[at] ?? tool.definition })),
    );
    expect(again.definitions).toEqual(definitions);
    expect(again.parse('read_file', '{"path":"a"}')).toEqual({ ok: true, input: { path: 'a' } });
  });

  test('B189: have plain schemas: an object, its properties, all of them required, and nothing else', async () => {
    for (const { input_schema } of createRegistry(await builtins()).definitions) {
      expect(Object.keys(input_schema).sort()).toEqual(['additionalProperties', 'properties', 'required', 'type']);
      expect(input_schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(input_schema['required']).toEqual(Object.keys(input_schema['properties'] ?? {}));
      expect(JSON.stringify(input_schema)).not.toMatch(/\$schema|\$ref|default|format/);
    }
  });

  test('cost at most 160 tokens each, and bash with read_file at most 220, at four bytes a token', async () => {
    for (const definition of createRegistry(await builtins()).definitions) {
      expect(Buffer.byteLength(JSON.stringify(definition)) / 4, definition.name).toBeLessThanOrEqual(160);
    }
    const { definitions } = createRegistry(await builtins(['bash', 'read_file']));
    expect(Buffer.byteLength(JSON.stringify(definitions)) / 4).toBeLessThan(220);
  });

  test('refuse a second tool of the same name', async () => {
    const [tool] = await builtins(['glob']);
    expect(() => createRegistry(tool ? [tool, tool] : [])).toThrow('two tools are called "glob"');
  });

  test('need a checker for a schema that says more, and use it', async () => {
    const [glob] = await builtins(['glob']);
    if (!glob) throw new Error('glob is built in');
    const schema = {
      type: 'object',
      properties: { n: { type: 'string', pattern: '^a' } },
      required: [],
      additionalProperties: false,
    };
    const tool = { ...glob, definition: { ...glob.definition, name: 'mine', input_schema: schema } };
    expect(() => createRegistry([tool])).toThrow('no checker');
    const registry = createRegistry([tool], new Map([['mine', () => ['"n" must start with a']]]));
    expect(registry.parse('mine', '{"n":"b"}')).toMatchObject({
      ok: false,
      error: expect.stringContaining('must start with a'),
    });
  });
});

describe('the input of a call', () => {
  test('is handed on when it fits, optional fields absent', async () => {
    const registry = createRegistry(await builtins());
    expect(registry.parse('read_file', '{"path":"a.ts","view_range":[1,-1]}')).toEqual({
      ok: true,
      input: { path: 'a.ts', view_range: [1, -1] },
    });
    expect(registry.parse('git', ' {"args":["log"]}\n')).toEqual({ ok: true, input: { args: ['log'] } });
  });

  test('may hold null for an optional field, which is then absent', async () => {
    const registry = createRegistry(await builtins());
    expect(registry.parse('read_file', '{"path":"a.ts","view_range":null}')).toEqual({
      ok: true,
      input: { path: 'a.ts' },
    });
    expect(await error('read_file', '{"path":"a.ts","viewrange":null}')).toContain('"viewrange" is unknown');
  });

  test.each(['', '  ', 'null'])('counts as {} when it is %j', async (text) => {
    expect(await error('read_file', text)).toContain('"path" is missing');
    const tools = await builtins(['glob']);
    const free = tools.map((tool) => ({
      ...tool,
      definition: {
        ...tool.definition,
        input_schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
      },
    }));
    expect(createRegistry(free).parse('glob', text)).toEqual({ ok: true, input: {} });
  });

  test.each([
    ['read_file', '{"path": 7}', '"path" is an integer (7); expected a string'],
    ['read_file', '{"path": null}', '"path" is null; expected a string'],
    ['read_file', '{"path":"a","view_range":"1-5"}', '"view_range" is a string ("1-5"); expected an array'],
    ['read_file', '{"path":"a","view_range":[1,"x"]}', '"view_range[1]" is a string ("x"); expected an integer'],
    ['read_file', '{"path":"a","view_range":[1.5,2]}', '"view_range[0]" is a number (1.5); expected an integer'],
    ['git', '{"args":"log"}', '"args" is a string ("log"); expected an array'],
    ['git', '{"args":["log",3]}', '"args[1]" is an integer (3); expected a string'],
    ['bash', '{"command":["ls"]}', '"command" is an array (["ls"]); expected a string'],
    ['bash', '{"command":"ls","timeout_ms":"5s"}', '"timeout_ms" is a string ("5s"); expected an integer'],
    ['edit_file', '{"path":"a","replace_all":"true"}', '"replace_all" is a string ("true"); expected a boolean'],
    ['bash', '{}', 'the field "command" is missing'],
    ['bash', '{"comand":"ls"}', 'the field "comand" is unknown; did you mean "command"?'],
    ['write_file', '{"path":"a"}', 'the field "file_text" is missing'],
    ['grep', '{"pattern":"a","constructor":1}', 'the field "constructor" is unknown'],
    ['bash', '["ls"]', 'not a JSON object'],
    ['bash', '{"command":"ls"', 'not valid JSON'],
    ['bash', '{"command":"a","command":"b"}', 'stands twice'],
    ['write_file', '{"path":"src/a.ts","file_text":"x","__proto__":{"path":"/etc/x"}}', '__proto__'],
    ['write_file', '{"path":"a\\u0000b","file_text":"x"}', 'NUL'],
    ['bash', '{"command":"ls","timeout_ms":2512292042121000001}', 'write it as a string'],
    ['bsh', '{}', 'there is no tool "bsh"; did you mean "bash"?'],
  ])('of %s that is %s is refused by name', async (name, text, message) => {
    expect(await error(name, text)).toContain(message);
  });

  test('lists the fields with their types when one is wrong', async () => {
    expect(await error('bash', '{}')).toContain('fields: command (string, required), timeout_ms (integer)');
  });

  test('is refused above one megabyte', async () => {
    expect(await error('write_file', JSON.stringify({ path: 'a', file_text: 'x'.repeat(1_000_000) }))).toContain(
      'the limit is 1000000',
    );
  });
});
