import type { CustomToolConfig, FileToolName, McpServerConfig, ToolRules } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { type McpToolRule, mcpToolRules } from '../core/mcp.ts';
import { SKILL_TOOL } from '../core/ports.ts';
import { compilePathRule, findPathMistake, type PathRule } from './paths.ts';
import { type ArgvRule, matchesDeny, parseArgvRule, type ShellRules } from './shell/rules.ts';

/** The rules of a task, compiled and grouped; an absent part means that the tool is not allowed at all. */
export interface CompiledRules {
  files: ReadonlyMap<FileToolName, readonly PathRule[]>;
  shell?: ShellRules;
  git?: ReadonlySet<string>;
  custom: ReadonlyMap<string, CustomToolConfig>;
  /** Tools of MCP servers. */
  served: ReadonlyMap<string, McpToolRule>;
  /** Skills can be loaded. */
  skills: boolean;
  /** Tools whose refusal ends the run. */
  fatal: ReadonlySet<string>;
  names: readonly string[];
}

const ACCESS = { read_file: 'read', glob: 'read', grep: 'read', write_file: 'write', edit_file: 'write' } as const;

/** Compiles tool rules; throws UsageError for one that cannot be read or can never match. */
export function compileRules(
  rules: readonly ToolRules[],
  custom_tools: readonly CustomToolConfig[] = [],
  mcp_servers: readonly McpServerConfig[] = [],
  skills = false,
): CompiledRules {
  const files = new Map<FileToolName, PathRule[]>();
  for (const rule of rules) {
    if (rule.name === 'bash' || rule.name === 'git') continue;
    files.set(rule.name, [...(files.get(rule.name) ?? []), compileFileRule(rule)]);
  }
  const bash = rules.filter((rule) => rule.name === 'bash');
  const git = rules.filter((rule) => rule.name === 'git');
  const served = mcpToolRules(mcp_servers);
  const all = [...rules, ...custom_tools, ...served];
  return {
    files,
    ...(bash.length > 0 && { shell: compileShell(bash) }),
    ...(git.length > 0 && { git: new Set(git.flatMap((rule) => rule.allow.map(subcommand))) }),
    custom: new Map(custom_tools.map((tool) => [tool.name, tool])),
    served: new Map(served.map((rule) => [rule.name, rule])),
    skills,
    fatal: new Set(all.filter((rule) => rule.on_denied === 'fail').map((rule) => rule.name)),
    names: [...new Set([...all.map((rule) => rule.name), ...(skills ? [SKILL_TOOL] : [])])],
  };
}

function compileFileRule(rule: Extract<ToolRules, { name: FileToolName }>): PathRule {
  const access = ACCESS[rule.name];
  const mistake = rule.paths && findPathMistake(rule.paths, access);
  if (mistake) throw new UsageError(`tools.${rule.name}.paths: ${mistake}`, { pointer: `/tools/${rule.name}/paths` });
  return compilePathRule(rule.name, access, rule);
}

/** Several entries count as one, so that a deny rule of one wins over an allow rule of another. */
function compileShell(rules: readonly { allow: readonly string[]; deny: readonly string[] }[]): ShellRules {
  const allow = rules.flatMap((rule) => rule.allow.map((text, index) => argvRule(text, 'allow', index)));
  const deny = rules.flatMap((rule) => rule.deny.map((text, index) => argvRule(text, 'deny', index)));
  if (allow.length === 0)
    throw new UsageError('tools.bash.allow: names no command; list at least one, such as "npm test"', {
      pointer: '/tools/bash/allow',
    });
  for (const rule of allow) {
    const cover = deny.find((other) => (other.star || !rule.star) && matchesDeny(other, rule.words));
    if (cover)
      throw new UsageError(
        `tools.bash.allow: "${rule.text}" can never match: the deny rule "${cover.text}" covers it`,
        {
          pointer: `/tools/bash/allow/${allow.indexOf(rule)}`,
        },
      );
  }
  return { allow, deny };
}

function argvRule(text: string, kind: 'allow' | 'deny', index: number): ArgvRule {
  const rule = parseArgvRule(text, kind);
  if ('error' in rule) {
    throw new UsageError(`tools.bash.${kind}[${index}]: ${rule.error}`, { pointer: `/tools/bash/${kind}/${index}` });
  }
  return rule;
}

function subcommand(text: string): string {
  if (/^[a-z][a-z-]*$/.test(text)) return text;
  throw new UsageError(`tools.git.allow: "${text}" is no git sub-command; write its name alone, such as "log"`, {
    pointer: '/tools/git/allow',
  });
}
