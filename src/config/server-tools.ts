// Tools that the model service runs itself: what they may reach, and which models have them.

import type { ModelConfig, ServerToolConfig, TaskConfig } from '../core/config.ts';
import type { Building } from './building.ts';
import { pointerTo } from './pointer.ts';
import type { WebToolField } from './task-file.ts';

/** Uses in one request; the service would set no bound, and each search costs. */
const MAX_USES = 5;
const NAMES = ['web_search', 'web_fetch'] as const;

/** The server tools of a task, noting those that its models do not have. */
export function buildServerTools(building: Building, model: ModelConfig): Pick<TaskConfig, 'server_tools'> {
  const fields = building.task.tools ?? {};
  const tools = NAMES.flatMap((name) => {
    const field = fields[name];
    return field === undefined ? [] : [oneTool(building, name, field === true ? {} : field)];
  });
  if (tools.length === 0) return {};
  const lacking = [model, ...model.fallback].map(obstacle).find((found) => found !== undefined);
  if (lacking !== undefined)
    for (const { name } of tools) {
      const message = `found ${name}, which the Claude API runs itself, expected ${lacking}`;
      building.issues.push({ pointer: pointerTo('/tools', name), at: 'key', message });
    }
  return { server_tools: tools };
}

function oneTool(
  { issues }: Building,
  name: ServerToolConfig['name'],
  field: Exclude<WebToolField, true>,
): ServerToolConfig {
  const { allowed_domains, blocked_domains, max_content_tokens, max_uses = MAX_USES } = field;
  if (allowed_domains && blocked_domains) {
    const message = 'found allowed_domains and blocked_domains, expected one of them: the service takes no more';
    issues.push({ pointer: pointerTo(pointerTo('/tools', name), 'blocked_domains'), at: 'key', message });
  }
  return {
    name,
    max_uses,
    ...(allowed_domains === undefined ? {} : { allowed_domains }),
    ...(blocked_domains === undefined ? {} : { blocked_domains }),
    ...(max_content_tokens === undefined ? {} : { max_content_tokens }),
  };
}

function obstacle({ provider, platform, tool_protocol }: ModelConfig): string | undefined {
  if (provider === 'replay') return undefined; // it plays what the service did then
  if (provider !== 'anthropic') return `a model of provider "anthropic", not "${provider}"`;
  if (platform !== undefined) return `a model of the API itself, not of platform "${platform}"`;
  return tool_protocol === 'xml' ? 'tool_protocol "native"' : undefined;
}
