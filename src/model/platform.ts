// Anthropic's models at Amazon Bedrock and at Google Vertex AI, through the vendor's own clients for them. The clients are
// optional: they stand beside agent-run where someone installed them, and sign each request with their cloud's credentials.

import { Console } from 'node:console';
import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { ModelConfig } from '../core/config.ts';
import { UsageError } from '../core/errors.ts';
import { authorizationOf } from './access.ts';
import type { Connection } from './connection.ts';
import { checkedUrl, headerValue, namedKey } from './credentials.ts';
import { createHttpFetch } from './http-fetch.ts';
import type { Env } from './proxy.ts';

type Platform = NonNullable<ModelConfig['platform']>;

/** What a platform's service is reached with. */
interface Place {
  base: URL;
  path: string;
  /** Is sent as it is; absent: requests are signed with what the cloud's own chain of credentials gives. */
  key?: string;
  open(options: object): Promise<BaseAnthropic>;
}

const PACKAGES: Record<Platform, string> = {
  bedrock: '@anthropic-ai/bedrock-sdk',
  vertex: '@anthropic-ai/vertex-sdk',
};

/** A connection to the platform of a model. Throws UsageError for a missing package, region, project or key. */
export async function connectPlatform(config: ModelConfig, platform: Platform, env: Env): Promise<Connection> {
  const place = platform === 'bedrock' ? bedrock(config, env) : vertex(config, env);
  const { base, path, key = '' } = place;
  const sdk = await place.open({
    baseURL: base.href,
    maxRetries: 0,
    fetch: createHttpFetch(base, env),
    openTelemetry: false,
    // Its default logger writes to stdout, and its debug level whole prompts.
    logger: new Console(process.stderr, process.stderr),
    logLevel: 'warn',
  });
  return { sdk, base, path, platform, authorization: authorizationOf({ apiKey: key }) };
}

function bedrock(config: ModelConfig, env: Env): Place {
  const awsRegion = regionOf(config, 'AWS_REGION', env);
  const named = config.api_key_env;
  const key = named === undefined ? headerValue('AWS_BEARER_TOKEN_BEDROCK', env) : namedKey(named, env);
  return {
    base: checkedUrl(config.base_url ?? `https://bedrock-runtime.${awsRegion}.amazonaws.com`, 'model.base_url'),
    path: `/model/${encodeURIComponent(config.id)}/invoke-with-response-stream`,
    ...(key === '' ? {} : { key }),
    async open(options) {
      const { AnthropicBedrock } = await installed('bedrock', () => import('@anthropic-ai/bedrock-sdk'));
      // null: no key is taken from the environment behind our back.
      return new AnthropicBedrock({ ...options, awsRegion, apiKey: key || null });
    },
  };
}

function vertex(config: ModelConfig, env: Env): Place {
  if (config.api_key_env !== undefined)
    throw new UsageError(
      'model.api_key_env does not go with platform "vertex", which takes Google credentials; remove it',
    );
  const region = regionOf(config, 'CLOUD_ML_REGION', env);
  const projectId = env['ANTHROPIC_VERTEX_PROJECT_ID']?.trim() ?? '';
  if (!/^[A-Za-z0-9:.-]+$/.test(projectId))
    throw new UsageError(
      'ANTHROPIC_VERTEX_PROJECT_ID is not set to the id of a project, which platform "vertex" needs',
    );
  const model = `projects/${projectId}/locations/${region}/publishers/anthropic/models/${encodeURIComponent(config.id)}`;
  return {
    base: checkedUrl(config.base_url ?? vertexUrl(region), 'model.base_url'),
    path: `/${model}:streamRawPredict`,
    async open(options) {
      const { AnthropicVertex } = await installed('vertex', () => import('@anthropic-ai/vertex-sdk'));
      return new AnthropicVertex({ ...options, region, projectId });
    },
  };
}

function vertexUrl(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com/v1';
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com/v1`;
  return `https://${region}-aiplatform.googleapis.com/v1`;
}

/** A region becomes part of a host's name, so it is nothing but letters, digits and dashes. */
function regionOf({ region, platform }: ModelConfig, variable: string, env: Env): string {
  const found = region ?? env[variable]?.trim() ?? '';
  if (/^[a-z0-9-]+$/.test(found)) return found;
  throw new UsageError(`no region for platform "${platform}": set model.region in the task, or ${variable}`);
}

async function installed<T>(platform: Platform, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    // Not found is the caller's affair; whatever else a package throws while it loads is told with the same words.
    const why =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' ? '' : ` (${String(error)})`;
    const name = PACKAGES[platform];
    throw new UsageError(
      `model.platform "${platform}" needs the package ${name} beside agent-run${why}; install it with: npm install ${name}`,
    );
  }
}
