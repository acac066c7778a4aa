import type { CustomToolConfig, FileToolName, McpServerConfig, ToolRules } from '../core/config.ts';
import type { JsonObject } from '../core/json.ts';
import { SKILL_TOOL } from '../core/ports.ts';
import type { Files, Judgement, Plan, Policy, ResolvedPath, ToolCall } from '../core/ports.ts';
import { explainParts, judgeCommand } from './command.ts';
import { judgeCustom } from './custom.ts';
import type { Decision, PolicyParts } from './decision.ts';
import { judgeGit } from './git.ts';
import {
  allowedPaths,
  type FileVerdict,
  judgeFolder,
  judgeLocated,
  locate,
  type PathRule,
  resolveReadable,
} from './paths.ts';
import { createGuards } from './protected.ts';
import { compileRules } from './rules.ts';
import type { ShellJudgement } from './shell/judgement.ts';

export interface PolicyOptions {
  rules: readonly ToolRules[];
  /** Tools of the task's own; each is allowed by standing here. */
  custom_tools?: readonly CustomToolConfig[];
  /** Their tools are allowed by being listed. */
  mcp_servers?: readonly McpServerConfig[];
  /** Skills can be loaded. */
  skills?: boolean;
  files: Files;
  /** The task, schema and script files and the run folder; absolute, or relative to the workspace. */
  protectedFiles: readonly string[];
}

const RUN_FILE = /^run:(outputs\/[A-Za-z0-9][A-Za-z0-9._-]*)$/;

/** The policy of a task: no rule means no. Throws UsageError for a rule that cannot be read or can never match. */
export function createPolicy(options: PolicyOptions): Policy {
  const parts = preparePolicy(options);
  return {
    async judge(call) {
      const decision = await decide(parts, call);
      return toJudgement(decision, parts.rules.fatal.has(call.name));
    },
  };
}

/** The judged commands of a shell text, for `agent-run explain`; nothing runs. */
export async function explainCommand(options: PolicyOptions, text: string): Promise<ShellJudgement> {
  return explainParts(preparePolicy(options), text);
}

function preparePolicy(options: PolicyOptions): PolicyParts {
  return {
    rules: compileRules(options.rules, options.custom_tools, options.mcp_servers, options.skills),
    files: options.files,
    guards: createGuards(options.files.root, options.protectedFiles),
  };
}

function toJudgement(decision: Decision, fatal: boolean): Judgement {
  if (decision.ok) return { verdict: 'allow', plan: decision.plan, rule: decision.rule };
  const { reason, rule } = decision;
  return { verdict: fatal ? 'terminate' : 'deny', reason, ...(rule !== undefined && { rule }) };
}

async function decide(parts: PolicyParts, call: ToolCall): Promise<Decision> {
  const { rules } = parts;
  if (call.name === 'bash' && rules.shell) return judgeCommand(parts, rules.shell, textOf(call.input, 'command'));
  if (call.name === 'git' && rules.git) return judgeGit(parts, rules.git, listOf(call.input, 'args'));
  const fileRules = rules.files.get(call.name as FileToolName); // any other name is simply not found
  if (fileRules) return judgeFile(parts, fileRules, call);
  const custom = rules.custom.get(call.name);
  if (custom) return judgeCustom(custom, call.input);
  const served = rules.served.get(call.name);
  if (served) return { ok: true, plan: { kind: 'call', effect: served.effect }, rule: `mcp_servers ${call.name}` };
  if (call.name === SKILL_TOOL && rules.skills)
    return { ok: true, plan: { kind: 'call', effect: 'read' }, rule: 'skills' };
  const allowed = rules.names.length > 0 ? `allowed tools: ${rules.names.join(', ')}` : 'this task allows no tools';
  return { ok: false, reason: `no rule allows the tool "${call.name}"; ${allowed}` };
}

async function judgeFile(parts: PolicyParts, rules: readonly PathRule[], call: ToolCall): Promise<Decision> {
  const path = textOf(call.input, 'path') || '.';
  if (path.startsWith('run:')) return judgeRunFile(call.name, path);
  const pattern = textOf(call.input, 'pattern');
  if (call.name === 'glob' && leavesByPattern(pattern)) {
    return {
      ok: false,
      reason: `the pattern "${pattern}" leaves the workspace; write it relative to "path", without ".."`,
    };
  }
  const found = await resolveFor(parts.files, call.name, path);
  if (!found.ok) return { ok: false, reason: `${call.name}: ${found.reason}; ${rules.map(allowedPaths).join('; ')}` };
  let refused: Decision | undefined;
  for (const rule of rules) {
    const verdict = found.folder
      ? judgeFolder(found, parts.files, parts.guards.guard)
      : judgeLocated(rule, found, parts.files, parts.guards.guard);
    const decision = toDecision(verdict, rule, () => filePlan(parts, rule, found));
    if (decision.ok) return decision;
    refused ??= decision;
  }
  return refused ?? { ok: false, reason: `${call.name} has no rule` };
}

function toDecision(verdict: FileVerdict, rule: PathRule, plan: () => Plan): Decision {
  if (verdict.ok) return { ok: true, plan: plan(), rule: `${rule.tool} ${verdict.pattern}` };
  const named = verdict.pattern === undefined ? {} : { rule: `${rule.tool} ${verdict.pattern}` };
  return { ok: false, reason: verdict.reason, ...named };
}

interface Found {
  ok: true;
  path: string;
  real: string;
  folder: boolean;
}

function filePlan(parts: PolicyParts, rule: PathRule, { path, real, folder }: Found): Plan {
  if (!folder) return { kind: 'file', effect: rule.access, path, real };
  const within = [...(rule.patterns ?? ['**']), ...parts.guards.closed];
  return { kind: 'search', effect: 'read', path, real, within };
}

async function resolveFor(files: Files, tool: string, path: string): Promise<Found | { ok: false; reason: string }> {
  if (tool === 'write_file' || tool === 'edit_file') {
    return asFound(await locate(files, path, async (at) => files.resolve(at, 'write')), false);
  }
  const file = await locate(files, path, async (at) => resolveReadable(files, at));
  if (file.ok) return asFound(file, false);
  const folder = await locate(files, path, async (at) => files.resolve(at, 'list'));
  return asFound(folder.ok ? folder : file, true);
}

function asFound(resolved: ResolvedPath, folder: boolean): Found | { ok: false; reason: string } {
  return resolved.ok ? { ...resolved, folder } : resolved;
}

function judgeRunFile(tool: string, path: string): Decision {
  const match = RUN_FILE.exec(path);
  if (tool !== 'read_file')
    return { ok: false, reason: `${tool} cannot use ${path}; only read_file reads stored outputs` };
  if (!match?.[1])
    return { ok: false, reason: `${path} is no stored output; use a path that a result named: run:outputs/NAME` };
  return { ok: true, plan: { kind: 'run_file', effect: 'read', path: match[1] }, rule: 'read_file run:outputs' };
}

function leavesByPattern(pattern: string): boolean {
  return /^(?:[/~\\]|[A-Za-z]:)/.test(pattern) || pattern.split(/[/\\{},()|]/).includes('..');
}

function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}

function listOf(input: JsonObject, key: string): string[] {
  const value = input[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
