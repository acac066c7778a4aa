import type { McpServerConfig } from '../core/config.ts';
import { errorText } from '../core/errors.ts';
import { mapStrings } from '../core/map-strings.ts';
import { type McpToolRule, mcpToolRules } from '../core/mcp.ts';
import type { Boundary, Tool, ToolContext, ToolOutput } from '../core/ports.ts';
import { mcpResult } from './mcp-content.ts';
import { offerTool, type OfferedTool } from './mcp-list.ts';
import { isTimeout, type McpServer, type ServerParts, startMcpServer, unavailable } from './mcp-server.ts';
import type { CheckInput } from './plain-schema.ts';
import { cutResult } from './result.ts';

/** What servers need to start; boundary, filter and log are each server's own. */
export interface McpParts extends Omit<ServerParts, 'boundary' | 'filter' | 'log'> {
  boundaryFor: (server: McpServerConfig) => Promise<Boundary>;
  outputFor: (server: McpServerConfig) => Pick<ServerParts, 'filter' | 'log'>;
}

export interface McpTools {
  tools: Tool[];
  checkers: Map<string, CheckInput>;
  /** Ends all servers within two seconds. */
  end: () => Promise<void>;
  /** Ends them at once, by force. */
  kill: () => void;
}

/**
 * Starts the servers of a task side by side and offers the tools it allows, in its order. A server that cannot start, does
 * not answer in time or lacks a tool is a UsageError (`mcp_unavailable`); then none of them is left running.
 */
export async function startMcpTools(configs: readonly McpServerConfig[], parts: McpParts): Promise<McpTools> {
  // One after the other: each may need mount points that another has made.
  const boundaries = new Map<string, Boundary>();
  for (const config of configs) boundaries.set(config.name, await parts.boundaryFor(config));
  const starting = await Promise.allSettled(
    configs.map(async (config) => {
      const boundary = boundaries.get(config.name);
      if (!boundary) throw new Error(`no boundary for ${config.name}`);
      return startMcpServer(config, { ...parts, ...parts.outputFor(config), boundary });
    }),
  );
  const servers = new Map<string, McpServer>();
  starting.forEach((start, index) => {
    if (start.status === 'fulfilled') servers.set(configs[index]?.name ?? '', start.value);
  });
  const end = async (): Promise<void> => void (await Promise.all([...servers.values()].map(async (one) => one.end())));
  try {
    const failed = starting.find((start) => start.status === 'rejected');
    if (failed) throw failed.reason;
    const offered = await offerAll(configs, servers, parts);
    return { ...offered, end, kill: () => servers.forEach((server) => server.kill()) };
  } catch (error) {
    await end();
    throw error;
  }
}

async function offerAll(
  configs: readonly McpServerConfig[],
  servers: ReadonlyMap<string, McpServer>,
  { redact }: McpParts,
): Promise<Pick<McpTools, 'tools' | 'checkers'>> {
  const tools: Tool[] = [];
  const checkers = new Map<string, CheckInput>();
  for (const rule of mcpToolRules(configs)) {
    const server = servers.get(rule.server);
    if (!server) throw new Error(`the server ${rule.server} was not started`);
    const offered = await offerTool(rule, server.list);
    if (!offered.ok) throw unavailable(rule.server, redact(offered.reason));
    checkers.set(rule.name, offered.value.check);
    tools.push(createMcpTool(rule, server, mapStrings(offered.value.definition, redact)));
  }
  return { tools, checkers };
}

function createMcpTool(rule: McpToolRule, server: McpServer, definition: OfferedTool['definition']): Tool {
  return {
    definition,
    async execute(call, plan, context) {
      if (plan.kind !== 'call') throw new Error(`${rule.name} cannot run a plan of kind ${plan.kind}`);
      const ended = server.ended();
      if (ended !== undefined) return gone(rule, ended, context);
      const { signal, timeout_ms } = context;
      try {
        const params = { name: rule.tool, arguments: call.input };
        return mcpResult(await server.request('tools/call', params, { signal, timeout_ms }), context);
      } catch (error) {
        return failed(error, rule, server, context);
      }
    },
  };
}

function gone({ server }: McpToolRule, how: string, context: ToolContext): ToolOutput {
  const text = `[the MCP server "${server}" is gone: ${how}; none of its tools works any more; its stderr: read_file run:outputs/mcp-${server}.stderr.txt]`;
  return cutResult('error', text, context);
}

function failed(error: unknown, rule: McpToolRule, server: McpServer, context: ToolContext): ToolOutput {
  if (context.signal.aborted) return cutResult('cancelled', '[cut: the run is ending]', context);
  if (isTimeout(error)) {
    return cutResult('timed_out', `[no answer within ${context.timeout_ms} ms; the server was told to stop]`, context);
  }
  const ended = server.ended();
  if (ended !== undefined) return gone(rule, ended, context);
  return cutResult('error', `[the server answered with an error: ${errorText(error)}]`, context);
}
