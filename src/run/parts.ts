import { UsageError } from '../core/errors.ts';
import { idlePointers } from '../core/findings-schema.ts';
import { shownTo } from '../core/media.ts';
import { mapStrings } from '../core/map-strings.ts';
import { createRedactor } from '../journal/redact.ts';
import { createModelClient } from '../model/create.ts';
import { createPolicy } from '../policy/policy.ts';
import { createPrompts } from '../prompts/texts.ts';
import { createBuiltinTools } from '../tools/builtin.ts';
import { createCustomTools } from '../tools/custom.ts';
import { createRegistry } from '../tools/registry.ts';
import { createSkillTool } from '../tools/skill.ts';
import { createVerify } from '../verify/verify.ts';
import { exec } from '../workspace/exec.ts';
import { isMissing } from '../workspace/programs.ts';
import { decidingParts, type Deciding } from './deciding.ts';
import { buildPlace } from './place.ts';
import { checkServerTools } from './server-tools.ts';
import { startServers } from './servers.ts';
import type { Parts } from '../agent/loop.ts';
import type { RunConfig, TaskConfig } from '../core/config.ts';
import type { Boundary, Clock, ModelClient, ProtocolTexts, Random } from '../core/ports.ts';
import type { McpTools } from '../tools/mcp.ts';
import type { GitFacts } from '../workspace/git-facts.ts';
import type { ReadStored } from '../tools/read-file.ts';
import type { Prompts } from '../prompts/texts.ts';
import type { Redactor } from '../journal/redact.ts';
import type { Interrupts } from './interrupts.ts';
import type { Env, Place } from './place.ts';
import type { Notify, ServerLog } from './servers.ts';

export interface PartsOptions {
  config: RunConfig;
  env: Env;
  /** Relative paths of the task begin here. */
  cwd: string;
  clock: Clock;
  random: Random;
  interrupts: Interrupts;
  /** The run folder, or that of a whole batch, hidden from tools; absent in a dry run. */
  run_dir?: string;
  redactor: Redactor;
  /** What runs of this process share of git's answers. */
  facts?: GitFacts | undefined;
  /** Stands in for the task's model; absent: it is made, and needs its key. */
  model?: ModelClient;
  keepOutput: Parts['keepOutput'];
  /** Reads a stored output of this run by its path below the run folder. */
  readStored: ReadStored;
  /** Hears of secrets that come up in mid-run, before they are used. */
  onSecret?: ((value: string) => void) | undefined;
  /** Keeps what MCP servers write to stderr; absent: it is dropped. */
  serverLog?: ServerLog;
  /** Records what happens beside the calls; absent: nothing is recorded. */
  notify?: Notify;
  /** Called with the workspace as it is before any process of the run. */
  beforeServers?: (place: Place) => Promise<void>;
}

/** Everything of a run but its records; `dispose` removes what was made outside the workspace. */
export interface Built {
  parts: Parts;
  prompts: Prompts;
  place: Place;
  redactor: Redactor;
  /** What the output's schema says that nobody will check, and where findings can never stand. */
  warnings: readonly string[];
  /** Ends what runs beside the calls, politely. */
  stop(): Promise<void>;
  dispose(): void;
}

/** Of a verify command's output; the agent and the result see less of it. */
const VERIFY_OUTPUT_BYTES = 30 * 1024;

/** Puts the parts of a run together. Every mistake of the caller is found here, before the first request: UsageError. */
export async function buildParts(options: PartsOptions): Promise<Built> {
  try {
    return await putTogether(options);
  } catch (error) {
    throw await placed(error, options); // what the compiled task said, where its file says it
  }
}

/** Loads what finds lines only when there is something to find. */
async function placed(error: unknown, { config, cwd }: PartsOptions): Promise<unknown> {
  if (!(error instanceof UsageError) || error.pointer === undefined) return error;
  const { locate } = await import('../config/locate.ts');
  return locate(error, config.task, cwd);
}

async function putTogether(options: PartsOptions): Promise<Built> {
  const { redactor, config, clock, keepOutput } = options;
  const { task } = config;
  checkServerTools(config);
  const prompts = await promptsOf(task, redactor);
  const task_files = task.files;
  const { deciding, place } = await decideInPlace(options, redactor, prompts);
  await options.beforeServers?.(place);
  const servers = await startServers(options, place).catch((error: unknown) => {
    place.dispose();
    throw error;
  });
  const dispose = (): void => {
    servers.kill();
    place.dispose();
  };
  const tools = await buildTools(options, { place, servers, task_files }).catch((error: unknown) => {
    dispose();
    throw error;
  });
  const parts: Parts = {
    ...deciding,
    ...tools,
    redact: redactor.redact,
    filter: () => redactor.stream(),
    keepOutput,
    clock,
    ordinary: options.interrupts.ordinary,
  };
  const idle = task.findings ? idlePointers(task.output.schema, task.findings) : [];
  const warnings = [...deciding.gate.warnings, ...idle];
  return { parts, prompts, place, redactor, warnings, stop: () => servers.end(), dispose };
}

/** The parts that decide and the place, made at the same time: the one computes, the other waits for git. */
async function decideInPlace(
  options: PartsOptions,
  redactor: Redactor,
  prompts: Built['prompts'],
): Promise<{ deciding: Deciding; place: Place }> {
  const { task } = options.config;
  const placing = buildPlace({ ...options, task_files: task.files });
  placing.catch(() => {}); // what is wrong with the model or the output is told first
  try {
    const model = options.model ?? (await buildModel(options, redactor, prompts.protocol));
    requirePrices(task, model);
    const deciding = await decidingParts(task, model, prompts);
    const place = await placing;
    requirePrograms(task, place.boundary.env);
    return { deciding, place };
  } catch (error) {
    await placing.then(
      (place) => place.dispose(),
      () => {}, // a UsageError of the place: it is thrown, or another came first
    );
    throw error;
  }
}

/** What calls are judged by and what runs them. */
async function buildTools(
  { config, redactor, run_dir, readStored }: PartsOptions,
  { place, servers, task_files }: { place: Place; servers: McpTools; task_files: readonly string[] },
): Promise<Pick<Parts, 'registry' | 'policy' | 'verify'>> {
  const { tools, custom_tools, mcp_servers = [], skills = [], limits, model } = config.task;
  const { files, boundary } = place;
  const protectedFiles = [...task_files, ...(run_dir === undefined ? [] : [run_dir])];
  const process = { exec, boundary, cwd: files.root };
  const names = tools.map((rules) => rules.name);
  const builtin = createBuiltinTools(names, { ...process, files, readStored, shows: shownTo(model) });
  const skillTools = skills.length === 0 ? [] : [createSkillTool(skills)];
  const custom = await createCustomTools(custom_tools, process);
  return {
    registry: createRegistry(
      [...builtin, ...skillTools, ...custom.tools, ...servers.tools],
      new Map([...custom.checkers, ...servers.checkers]),
    ),
    policy: createPolicy({ rules: tools, custom_tools, mcp_servers, skills: skills.length > 0, files, protectedFiles }),
    verify: createVerify({
      ...process,
      timeout_ms: limits.tool_timeout_ms,
      max_output_bytes: VERIFY_OUTPUT_BYTES,
      redact: redactor.redact,
    }),
  };
}

/** Templates without secrets: what is said to a model is recorded as it was said. */
function promptsOf({ prompt_templates = {} }: TaskConfig, { redact }: Redactor): Promise<Prompts> {
  return createPrompts(mapStrings(prompt_templates, redact));
}

/** Masks the secrets of the environment, and of what the task names. */
export function redactorFor(task: TaskConfig, env: Env): Redactor {
  const headers = (task.mcp_servers ?? []).flatMap(({ headers_env = {} }) => Object.values(headers_env));
  const extra_names = [...task.redact, ...keyNames(task), ...headers];
  // "Bearer x": x alone is as secret.
  const values = headers.flatMap((name) => env[name]?.trim().split(/\s+/).slice(1) ?? []);
  return createRedactor({ env, extra_names, values });
}

/** Variables that hold a key, whatever they are called. */
function keyNames({ model }: TaskConfig): string[] {
  return [model, ...model.fallback].flatMap(({ api_key_env }) => api_key_env ?? []);
}

async function buildModel(
  { config, env, clock, random, interrupts, onSecret }: PartsOptions,
  redactor: Redactor,
  protocol: ProtocolTexts,
): Promise<ModelClient> {
  const { model, limits, server_tools = [] } = config.task;
  return createModelClient(model, {
    env,
    clock,
    random,
    redact: redactor.redact,
    onSecret,
    protocol,
    server_tools,
    idle_timeout_ms: limits.idle_timeout_ms,
    max_retries: limits.max_retries,
    deadline: () => interrupts.remaining(),
  });
}

/** A check that cannot start would be paid for before it is found out. */
function requirePrograms({ verify, custom_tools }: TaskConfig, env: Boundary['env']): void {
  const named = [
    ...verify.map(({ run: [program = ''] }, index) => ({ program, pointer: `/verify/${index}/run/0` })),
    ...custom_tools.map(({ command: [program = ''] }, index) => ({
      program,
      pointer: `/custom_tools/${index}/command/0`,
    })),
  ];
  const missing = named.find(({ program }) => !program.includes('{{') && isMissing(program, env));
  if (!missing) return;
  throw new UsageError(
    `found the program ${JSON.stringify(missing.program)}, which is in no folder of the PATH that tools are given (${env['PATH'] ?? ''}); install it, or name its path`,
    { pointer: missing.pointer },
  );
}

/** A cost limit without a known price would never be reached. */
function requirePrices({ file, limits, model }: TaskConfig, client: ModelClient): void {
  if (limits.max_cost_usd === null || client.prices) return;
  const names = [model, ...model.fallback].map((one) => `${one.provider}/${one.id}`).join(', ');
  throw new UsageError(
    `a cost limit of ${limits.max_cost_usd} USD is given (limits.max_cost_usd, --max-cost-usd or AGENT_RUN_MAX_COST_USD), but no price is known for ${names}; add model.prices (USD per million tokens) or drop the limit`,
    { place: { file }, next: { first: `add model.prices to ${file} or drop the cost limit` } },
  );
}
