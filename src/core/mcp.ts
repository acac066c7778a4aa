// What a task says of its MCP servers, tool by tool, under the names that a model sees.

import type { CallLimits, McpServerConfig } from './config.ts';

/** Model services take names up to this long. */
export const LONGEST_TOOL_NAME = 64;
export const MCP_PREFIX = 'mcp__';

/** A tool of a server that the task allows. */
export interface McpToolRule extends CallLimits {
  /** As it is offered. */
  name: string;
  server: string;
  /** As the server calls it. */
  tool: string;
  effect: 'read' | 'write';
}

/** `mcp__SERVER__TOOL`; what no tool's name may hold becomes "_". */
export function mcpToolName(server: string, tool: string): string {
  return `${MCP_PREFIX}${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/gu, '_')}`;
}

/** One rule for each tool that the servers are allowed to offer, in the task's order. */
export function mcpToolRules(servers: readonly McpServerConfig[] = []): McpToolRule[] {
  return servers.flatMap((server) => {
    const { timeout_ms, max_output_bytes, max_calls, on_denied } = server;
    return server.tools.map((tool): McpToolRule => ({
      name: mcpToolName(server.name, tool),
      server: server.name,
      tool,
      effect: server.read_only.includes(tool) ? 'read' : 'write',
      ...(timeout_ms === undefined ? {} : { timeout_ms }),
      max_output_bytes,
      ...(max_calls === undefined ? {} : { max_calls }),
      on_denied,
    }));
  });
}
