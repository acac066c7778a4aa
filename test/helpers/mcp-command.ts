import { fileURLToPath } from 'node:url';

/** Our own server; see there for what it can do. */
export const MCP_SERVER = fileURLToPath(new URL('mcp-server.mjs', import.meta.url));

/** The command of the stub server, or of a copy of it that a sandbox shows. */
export function mcpServerCommand(options: Record<string, unknown> = {}, script = MCP_SERVER): string[] {
  return [process.execPath, script, JSON.stringify(options)];
}
