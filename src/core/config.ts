// The task after loading: defaults filled in, files read, inputs interpolated. It is plain JSON, stands whole in
// run_start, and nothing is read again later. Names are those of the task file.

import type { JsonObject, JsonValue } from './json.ts';
import type { Prices } from './usage.ts';

export type ProviderName = 'anthropic' | 'openai' | 'script' | 'replay';

export interface ModelConfig {
  provider: ProviderName;
  id: string;
  max_tokens: number;
  /** The size of the window where the shipped table does not know it: a local model, another endpoint. */
  context_tokens?: number;
  /** The base URL leads to the Claude API itself, with what clouds and gateways lack; absent: not known. */
  claude_api?: boolean;
  /** The model cannot be shown images; absent: it can, as far as is known. */
  images?: boolean;
  /** Ask for the output by the service's structured output, or by the output tool; absent: as the provider is known to take it. */
  response_format?: boolean;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** What is shown of thinking; absent: the model's own default. */
  thinking_display?: 'summarized' | 'omitted';
  /** Provider `anthropic`: the cloud that serves the model; absent: the Claude API. */
  platform?: 'bedrock' | 'vertex';
  /** Of the platform. */
  region?: string;
  base_url?: string;
  api_key_env?: string;
  tool_protocol: 'native' | 'xml';
  fallback: ModelConfig[];
  /** From the task; absent: the shipped table decides. */
  prices?: Prices;
  /** Provider `script`: the whole script, already read. */
  script?: ScriptConfig;
  /** Provider `replay`: the model's side of the recorded run. */
  replay?: ReplayConfig;
}

export interface ReplayConfig {
  /** Lines of a transcript that tell of requests and replies. */
  events: JsonObject[];
}

export interface ScriptTurn {
  text?: string;
  thinking?: string;
  tool_use?: { name: string; input?: JsonValue; input_json?: string; id?: string }[];
  stop_reason?: string;
  usage?: JsonObject;
  error?: { status?: number; type?: string; message?: string; headers?: Record<string, string> };
  expect?: string | string[];
  /** Milliseconds before the reply begins. */
  delay_ms?: number;
}

export interface ScriptConfig {
  turns: ScriptTurn[];
}

export interface PathRules {
  /** Globs relative to the workspace, `!` excludes; absent: the whole workspace but the protected paths for writes. */
  paths?: string[];
}

export interface CallLimits {
  timeout_ms?: number;
  max_output_bytes: number;
  max_calls?: number;
  on_denied: 'continue' | 'fail';
}

export type FileToolName = 'read_file' | 'glob' | 'grep' | 'write_file' | 'edit_file';
export type BuiltinToolName = FileToolName | 'bash' | 'git';

export type ToolRules =
  | ({ name: FileToolName } & PathRules & CallLimits)
  | ({ name: 'bash'; allow: string[]; deny: string[] } & CallLimits)
  | ({ name: 'git'; allow: string[] } & CallLimits);

/** A tool of the task's own: its parameters become an argument list. */
export interface CustomToolConfig extends CallLimits {
  name: string;
  description: string;
  input_schema: JsonObject;
  /** The program, and templates over the tool's parameters. */
  command: string[];
  /** Template of the standard input; absent: there is none. */
  stdin?: string;
  effect: 'read' | 'write';
  ok_exit_codes: number[];
}

/** A server of tools: started for the run as a process of its own, or reached at a URL. */
export interface McpServerConfig extends CallLimits {
  name: string;
  /** The program and its arguments; none for a server at a URL. */
  command: string[];
  url?: string;
  /** Names of headers to the variables that hold their values. */
  headers_env?: Record<string, string>;
  /** Names of the variables it is given beside those of all tools. */
  env: string[];
  /** Its tools that are offered, as it calls them. */
  tools: string[];
  /** Those of them that only read. */
  read_only: string[];
  network: boolean | string[];
}

/** A tool that the model service runs itself, in its own fields. */
export interface ServerToolConfig {
  name: 'web_search' | 'web_fetch';
  /** In one request. */
  max_uses: number;
  allowed_domains?: string[];
  blocked_domains?: string[];
  max_content_tokens?: number;
}

/** Instructions for a kind of work, offered by name; all of its folder that is text. */
export interface SkillConfig {
  name: string;
  description: string;
  /** SKILL.md without its front matter. */
  body: string;
  /** The other files, by their paths in the folder. */
  files: { path: string; text: string }[];
  /** Paths of those that are no text. */
  binary: string[];
}

export type ContextItem =
  | { kind: 'git_diff'; base?: string; head?: string; paths: string[]; limits: ContextLimits }
  | { kind: 'git_log'; base?: string; head?: string; paths: string[]; limits: ContextLimits }
  | { kind: 'files'; paths: string[]; limits: ContextLimits }
  | { kind: 'command'; argv: string[]; limits: ContextLimits }
  | { kind: 'input'; name: string; limits: ContextLimits }
  | { kind: 'github_event'; fields: string[]; limits: ContextLimits };

export interface ContextLimits {
  max_size_bytes: number;
  on_overflow: 'cut' | 'fail';
  when_empty: 'run' | 'skip' | 'fail';
}

export interface Limits {
  max_turns: number | null;
  max_input_tokens: number | null;
  max_output_tokens: number | null;
  max_total_tokens: number | null;
  max_cost_usd: number | null;
  max_tool_calls: number | null;
  max_denials: number | null;
  timeout_ms: number;
  tool_timeout_ms: number;
  idle_timeout_ms: number;
  max_retries: number;
  on_limit: 'finalize' | 'finalize_fail' | 'stop';
}

export interface OutputConfig {
  schema?: JsonValue;
  /** Where the schema came from, for messages. */
  schema_file?: string;
  repair_attempts: number;
  gate?: JsonValue;
  gate_file?: string;
}

export interface VerifyCommand {
  run: string[];
  timeout_ms?: number;
  attempts: number;
}

export interface SandboxConfig {
  mode: 'auto' | 'required' | 'off';
  network: boolean | string[];
  env: string[];
  read: string[];
  write: string[];
  git_write: boolean;
  allow_untrusted: boolean;
}

export interface FindingsMap {
  items: string;
  path?: string;
  line?: string;
  end_line?: string;
  level?: string;
  levels?: Record<string, string>;
  title?: string;
  message?: string;
}

export interface TaskConfig {
  name: string;
  /** The task file as given on the command line, '-' for stdin. */
  file: string;
  sha256: string;
  /** Absolute paths of the task and of every file it names: no tool writes them. */
  files: string[];
  /** The commit the task was read from, with `--task-ref`. */
  ref: string | null;
  inputs: Record<string, string>;
  system: string | null;
  prompts: string[];
  context: ContextItem[];
  model: ModelConfig;
  tools: ToolRules[];
  /** Absent: none. */
  server_tools?: ServerToolConfig[];
  custom_tools: CustomToolConfig[];
  /** Absent: none. */
  mcp_servers?: McpServerConfig[];
  /** Absent: none. */
  skills?: SkillConfig[];
  sandbox: SandboxConfig;
  limits: Limits;
  output: OutputConfig;
  verify: VerifyCommand[];
  findings?: FindingsMap;
  /** Liquid templates by the name of the text that they replace; absent: none. */
  prompt_templates?: Record<string, string>;
  /** What is published on GitHub; absent: all of it. */
  github?: { summary: boolean; annotations: boolean; comment?: CommentConfig | false };
  redact: string[];
}

/** The comment on a pull request or issue. */
export interface CommentConfig {
  /** Text of the template; null: the built-in one. */
  template: string | null;
  /** One comment that is updated, instead of one more each time. */
  sticky: boolean;
}

/** A run as the front doors hand it over: the task plus where it runs and writes. */
export interface RunConfig {
  task: TaskConfig;
  /** Absolute path of the workspace. */
  workspace: string;
  /** Absolute path given with `--out`; absent: the default place under `agent-run-results/`. */
  out?: string;
  /** How many run folders of this task stay below the default place; absent: all. */
  keep?: number;
  untrusted: boolean;
  /** What made it untrusted, for the log: "the event issue_comment". */
  untrusted_reason?: string;
}
