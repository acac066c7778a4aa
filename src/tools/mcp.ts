import type { McpServerConfig } from '../core/config.ts';
import { errorText } from '../core/errors.ts';
import { mapStrings } from '../core/map-strings.ts';
import { type McpToolRule, mcpToolRules } from '../core/mcp.ts';
import type { Boundary, Tool, ToolContext, ToolOutput } from '../core/ports.ts';
import { type ContentParts, mcpResult } from './mcp-content.ts';
import type { Shows } from './media.ts';
import { offerTool, type OfferedTool } from './mcp-list.ts';
import type { HttpParts } from './mcp-http.ts';
import { unavailable } from './mcp-link.ts';
import type { ProcessParts } from './mcp-process.ts';
import { isTimeout, type McpServer, type ServerParts, startMcpServer, statusOf } from './mcp-server.ts';
import type { CheckInput } from './plain-schema.ts';
import { cutResult } from './result.ts';

/** What servers need to start; boundary, filter, log and requests are each server's own. */
export interface McpParts
  extends Omit<ServerParts, 'reach'>, Omit<ProcessParts, 'boundary' | 'filter' | 'log'>, Pick<ContentParts, 'shows'> {
  boundaryFor: (server: McpServerConfig) => Promise<Boundary>;
  outputFor: (server: McpServerConfig) => Pick<ProcessParts, 'filter' | 'log'>;
  /** For a server at a URL. */
  httpFor: (server: McpServerConfig) => HttpParts;
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
  const ways: ServerParts['reach'][] = [];
  for (const config of configs) ways.push(await reachOf(config, parts));
  const starting = await Promise.allSettled(
    configs.map(async (config, index) => {
      const reach = ways[index];
      if (!reach) throw new Error(`no way to ${config.name}`);
      return startMcpServer(config, { ...parts, reach });
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

async function reachOf(config: McpServerConfig, parts: McpParts): Promise<ServerParts['reach']> {
  if (config.url !== undefined) return { http: parts.httpFor(config) };
  const { serve, cwd, redact } = parts;
  return { process: { serve, cwd, redact, ...parts.outputFor(config), boundary: await parts.boundaryFor(config) } };
}

async function offerAll(
  configs: readonly McpServerConfig[],
  servers: ReadonlyMap<string, McpServer>,
  { redact, shows }: McpParts,
): Promise<Pick<McpTools, 'tools' | 'checkers'>> {
  const tools: Tool[] = [];
  const checkers = new Map<string, CheckInput>();
  for (const rule of mcpToolRules(configs)) {
    const server = servers.get(rule.server);
    if (!server) throw new Error(`the server ${rule.server} was not started`);
    const offered = await offerTool(rule, server.list);
    if (!offered.ok) throw unavailable(rule.server, redact(offered.reason));
    checkers.set(rule.name, offered.value.check);
    tools.push(createMcpTool(rule, { server, shows, definition: mapStrings(offered.value.definition, redact) }));
  }
  return { tools, checkers };
}

function createMcpTool(
  rule: McpToolRule,
  { server, shows, definition }: { server: McpServer; shows: Shows; definition: OfferedTool['definition'] },
): Tool {
  return {
    definition,
    async execute(call, plan, context) {
      if (plan.kind !== 'call') throw new Error(`${rule.name} cannot run a plan of kind ${plan.kind}`);
      const ended = server.ended();
      if (ended !== undefined) return gone(rule, ended, server, context);
      const { signal, timeout_ms } = context;
      try {
        const params = { name: rule.tool, arguments: call.input };
        return mcpResult(await server.request('tools/call', params, { signal, timeout_ms }), { context, shows });
      } catch (error) {
        return failed(error, rule, server, context);
      }
    },
  };
}

function gone({ server: name }: McpToolRule, how: string, { log }: McpServer, context: ToolContext): ToolOutput {
  const more = log === undefined ? '' : `; its stderr: read_file run:${log}`;
  return cutResult(
    'error',
    `[the MCP server "${name}" is gone: ${how}; none of its tools works any more${more}]`,
    context,
  );
}

function failed(error: unknown, rule: McpToolRule, server: McpServer, context: ToolContext): ToolOutput {
  if (context.signal.aborted) return cutResult('cancelled', '[cut: the run is ending]', context);
  if (isTimeout(error)) {
    return cutResult('timed_out', `[no answer within ${context.timeout_ms} ms; the server was told to stop]`, context);
  }
  const ended = server.ended();
  if (ended !== undefined) return gone(rule, ended, server, context);
  return cutResult('error', `[the server answered with an error: ${errorText(error)}${statusOf(error)}]`, context);
}
