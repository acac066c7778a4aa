import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/core/json.ts';
import type { Files, OutputSink, Plan, Tool, ToolContext, ToolOutput } from '../../src/core/ports.ts';
import { createFiles } from '../../src/workspace/files.ts';
import { tempFolder, tempTree } from '../helpers/temp.ts';

/** A context whose stored outputs lie in a fresh run folder, and a reader for them. */
export function toolContext(changes: Partial<ToolContext> = {}) {
  const run = tempFolder();
  let stored = 0;
  const open = (): OutputSink => {
    mkdirSync(join(run, 'outputs'), { recursive: true });
    const path = `outputs/${(stored += 1)}.txt`;
    writeFileSync(join(run, path), '');
    let kept_bytes = 0;
    return {
      write(bytes) {
        kept_bytes += bytes.length;
        appendFileSync(join(run, path), bytes);
      },
      end: () => ({ path, kept_bytes, left_out: 0 }),
    };
  };
  const context: ToolContext = {
    signal: new AbortController().signal,
    redact: (text) => text,
    filter: () => ({ push: (chunk) => chunk, end: () => new Uint8Array() }),
    timeout_ms: 10_000,
    max_output_bytes: 30_000,
    keep(bytes) {
      const sink = open();
      sink.write(bytes);
      return sink.end().path;
    },
    keepAll: () => open(),
    ...changes,
  };
  return { context, stored: (path: string) => readFileSync(join(run, path), 'utf8') };
}

export interface Workspace {
  root: string;
  files: Files;
}

/** A fresh workspace with files in it. */
export async function workspace(tree: Record<string, string | Uint8Array> = {}): Promise<Workspace> {
  const root = tempTree(tree);
  return { root, files: await createFiles(root) };
}

/** The plan for a file of the workspace. */
export async function filePlan({ files }: Workspace, path: string, effect: 'read' | 'write'): Promise<Plan> {
  const at = await files.resolve(path, 'write');
  if (!at.ok) throw new Error(at.reason);
  return { kind: 'file', effect, path, real: at.real };
}

/** The plan for a folder of the workspace; `within` as a rule's globs. */
export async function searchPlan({ files }: Workspace, path = '.', within: readonly string[] = ['**']): Promise<Plan> {
  const at = await files.resolve(path, 'list');
  if (!at.ok) throw new Error(at.reason);
  return { kind: 'search', effect: 'read', path, real: at.real, within };
}

/** Runs a tool on an input and a plan. */
export async function call(
  tool: Tool,
  input: JsonObject,
  plan: Plan,
  context = toolContext().context,
): Promise<ToolOutput> {
  return tool.execute({ id: 'toolu_1', name: tool.definition.name, input }, plan, context);
}

/** All text of a result. */
export function textOf(output: ToolOutput): string {
  return output.content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');
}
