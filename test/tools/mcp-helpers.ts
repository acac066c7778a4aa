import { onTestFinished } from 'vitest';
import { mcpServerCommand } from '../helpers/mcp-command.ts';
import { PLAIN } from '../helpers/boundary.ts';
import { tempFolder } from '../helpers/temp.ts';
import { startMcpTools, type McpParts, type McpTools } from '../../src/tools/mcp.ts';
import { serve } from '../../src/workspace/serve.ts';
import type { McpServerConfig } from '../../src/core/config.ts';
import type { Tool } from '../../src/core/ports.ts';

/** A configuration of the stub server. */
export function stub(options: Record<string, unknown>, config: Partial<McpServerConfig> = {}): McpServerConfig {
  return {
    name: 'stub',
    command: mcpServerCommand(options),
    env: [],
    tools: ['echo'],
    read_only: [],
    network: false,
    max_output_bytes: 30_000,
    on_denied: 'continue',
    ...config,
  };
}

/** Starts servers that end with the test; `stderr` is what they wrote there. */
export async function started(
  configs: readonly McpServerConfig[],
  changes: Partial<McpParts> = {},
): Promise<McpTools & { stderr: () => string; tool: (name: string) => Tool }> {
  let stderr = '';
  const tools = await startMcpTools(configs, {
    serve,
    cwd: tempFolder(),
    version: '0.0.0',
    signal: new AbortController().signal,
    redact: (text) => text.replaceAll('hunter2-hunter2', '***'),
    shows: { images: true, pdfs: true },
    notify: () => true,
    httpFor: () => {
      throw new Error('no server at a URL');
    },
    boundaryFor: async () => PLAIN,
    outputFor: () => ({
      filter: { push: (chunk) => chunk, end: () => new Uint8Array() },
      log: (bytes) => {
        stderr += Buffer.from(bytes).toString('utf8');
      },
    }),
    ...changes,
  });
  onTestFinished(() => tools.kill());
  const tool = (name: string): Tool => {
    const found = tools.tools.find(({ definition }) => definition.name === `mcp__stub__${name}`);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return { ...tools, stderr: () => stderr, tool };
}
