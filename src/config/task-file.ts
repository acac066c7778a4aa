// The task file as it is written, after its schema accepted it: names, optional keys and shapes of schemas/task.schema.json.

import type {
  CallLimits,
  FileToolName,
  FindingsMap,
  Limits,
  ModelConfig,
  ProviderName,
  SandboxConfig,
} from '../core/config.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';

export type TextField = string | { file: string };

export interface InputField {
  description?: string;
  default?: string;
  required?: boolean;
  enum?: string[];
  pattern?: string;
}

export interface PriceFields {
  input: number;
  output: number;
  cache_write?: number;
  cache_write_1h?: number;
  cache_read?: number;
}

export interface ModelFields {
  provider?: ProviderName;
  id?: string;
  max_tokens?: number;
  context_tokens?: number;
  claude_api?: boolean;
  images?: boolean;
  response_format?: boolean;
  effort?: NonNullable<ModelConfig['effort']>;
  thinking_display?: NonNullable<ModelConfig['thinking_display']>;
  platform?: NonNullable<ModelConfig['platform']>;
  region?: string;
  base_url?: string;
  api_key_env?: string;
  tool_protocol?: ModelConfig['tool_protocol'];
  fallback?: (string | ModelFields)[];
  prices?: PriceFields;
  script?: string | JsonObject;
  replay?: string;
}

export interface CallFields {
  timeout?: string;
  max_output?: string;
  max_calls?: number;
  on_denied?: CallLimits['on_denied'];
}

export type FileToolField = true | (CallFields & { paths?: string[] });

export type WebToolField =
  | true
  | { allowed_domains?: string[]; blocked_domains?: string[]; max_uses?: number; max_content_tokens?: number };

export interface ToolFields extends Partial<Record<FileToolName, FileToolField>> {
  bash?: CallFields & { allow: string[]; deny?: string[] };
  git?: true | (CallFields & { allow?: string[] });
  web_search?: WebToolField;
  web_fetch?: WebToolField;
}

export interface CustomToolField extends CallFields {
  name: string;
  description: string;
  input_schema: JsonObject;
  command: string[];
  stdin?: string;
  effect?: 'read' | 'write';
  ok_exit_codes?: number[];
}

export interface McpServerField extends CallFields {
  command?: string;
  args?: string[];
  env?: string[];
  url?: string;
  headers_env?: Record<string, string>;
  tools: string[];
  read_only?: string[];
  network?: boolean | string[];
}

export interface ContextFields {
  git?: 'diff' | 'log';
  base?: string;
  head?: string;
  paths?: string[];
  files?: string[];
  command?: string[];
  input?: string;
  github_event?: string[];
  max_size?: string;
  on_overflow?: 'cut' | 'fail';
  when_empty?: 'run' | 'skip' | 'fail';
}

export type LimitFields = Partial<Omit<Limits, 'timeout_ms' | 'tool_timeout_ms' | 'idle_timeout_ms'>> & {
  timeout?: string;
  tool_timeout?: string;
  idle_timeout?: string;
};

export interface OutputFields {
  schema?: JsonValue;
  repair_attempts?: number;
  gate?: JsonValue;
}

export interface VerifyFields {
  run: string[];
  timeout?: string;
  attempts?: number;
}

export interface TaskFile {
  version?: 1;
  name?: string;
  inputs?: Record<string, InputField>;
  system?: TextField;
  prompt: TextField | TextField[];
  context?: ContextFields[];
  model: string | ModelFields;
  tools?: ToolFields;
  custom_tools?: CustomToolField[];
  mcp_servers?: Record<string, McpServerField>;
  skills?: string[];
  sandbox?: Partial<SandboxConfig>;
  limits?: LimitFields;
  output?: OutputFields;
  verify?: VerifyFields[];
  findings?: FindingsMap;
  github?: {
    summary?: boolean;
    annotations?: boolean;
    comment?: boolean | { template?: TextField; sticky?: boolean };
  };
  prompts?: Record<string, TextField>;
  redact?: string[];
}
