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
    issues.push(...addressIssues(field, pointer));
  }
  const servers = fields.map(([name, field]) => toConfig(name, field));
  return servers.length === 0 ? {} : { mcp_servers: servers };
}

function toConfig(name: string, field: McpServerField): McpServerConfig {
  const { command, args = [], env = [], url, headers_env, tools, read_only = [], network = false, ...call } = field;
  return {
    name,
    command: command === undefined ? [] : [command, ...args],
    ...(url === undefined ? {} : { url }),
    ...(headers_env === undefined ? {} : { headers_env }),
    env,
    tools,
    read_only,
    network,
    ...callLimits(call),
  };
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The protocol's own, and those that say how a message is sent. */
const OWN_HEADERS = /^(?:mcp-.*|accept|content-.*|host|connection|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i;

function addressIssues({ url, headers_env = {} }: McpServerField, pointer: string): Issue[] {
  if (url === undefined) return [];
  const at = pointerTo(pointer, 'url');
  if (!URL.canParse(url)) return [{ pointer: at, message: `found ${showValue(url)}, expected an address` }];
  const { username, password, protocol, hostname, hash } = new URL(url);
  const issues: Issue[] = [];
  if (username !== '' || password !== '' || hash !== '') {
    const message =
      'found an address with a user, a password or a fragment, expected one without; name a secret in "headers_env"';
    issues.push({ pointer: at, message });
  }
  if (protocol === 'http:' && Object.keys(headers_env).length > 0 && !LOOPBACK.has(hostname)) {
    const message = `found ${showValue(url)}, expected https: "headers_env" would be sent in the clear`;
    issues.push({ pointer: at, message });
  }
  const headers = pointerTo(pointer, 'headers_env');
  for (const name of Object.keys(headers_env)) {
    const message = HEADER_NAME.test(name)
      ? `found ${showValue(name)}, which is not for a task to set`
      : `found ${showValue(name)}, expected the name of a header`;
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name)) issues.push({ pointer: pointerTo(headers, name), message });
  }
  return issues;
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
