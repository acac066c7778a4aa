// MCP servers with their defaults. Whether a server has the tools that a task names is found when it has started.

import type { McpServerConfig } from '../core/config.ts';
import { LONGEST_TOOL_NAME, mcpToolName } from '../core/mcp.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Building } from './building.ts';
import { type Issue, showValue } from './issues.ts';
import { pointerTo } from './pointer.ts';
import type { McpServerField } from './task-file.ts';
import { callLimits } from './tools.ts';

/** The servers in the task's order; no key at all when there are none. */
export function buildMcpServers({ task, issues }: Building): { mcp_servers?: McpServerConfig[] } {
  const fields = Object.entries(task.mcp_servers ?? {});
  const taken = new Map<string, string>();
  for (const [name, field] of fields) {
    const pointer = pointerTo('/mcp_servers', name);
    issues.push(...nameIssues(name, field, { pointer, taken }), ...readOnlyIssues(field, pointer));
  }
  const servers = fields.flatMap(([name, field]) => toConfig(name, field));
  return servers.length === 0 ? {} : { mcp_servers: servers };
}

function toConfig(name: string, field: McpServerField): McpServerConfig[] {
  const { command, args = [], env = [], tools, read_only = [], network = false, ...call } = field;
  if (command === undefined) return []; // reached at a URL, which is an issue of its own
  return [{ name, command: [command, ...args], env, tools, read_only, network, ...callLimits(call) }];
}

function nameIssues(
  server: string,
  { tools }: McpServerField,
  { pointer, taken }: { pointer: string; taken: Map<string, string> },
): Issue[] {
  return tools.flatMap((tool, index): Issue[] => {
    const name = mcpToolName(server, tool);
    const at = pointerTo(pointerTo(pointer, 'tools'), index);
    const earlier = taken.get(name);
    taken.set(name, `"${tool}" of "${server}"`);
    if (earlier !== undefined)
      return [{ pointer: at, message: `found ${showValue(tool)}, offered as ${name}, as is ${earlier}` }];
    if (name.length <= LONGEST_TOOL_NAME) return [];
    const message = `found ${showValue(tool)}, offered as ${name}: expected a name of at most ${LONGEST_TOOL_NAME} characters; give the server a shorter name`;
    return [{ pointer: at, message }];
  });
}

function readOnlyIssues({ tools, read_only = [] }: McpServerField, pointer: string): Issue[] {
  return read_only.flatMap((tool, index): Issue[] => {
    if (tools.includes(tool)) return [];
    const message = `found ${showValue(tool)}, expected one of the server's "tools"${didYouMean(tool, tools)}`;
    return [{ pointer: pointerTo(pointerTo(pointer, 'read_only'), index), message }];
  });
}
