import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { ModelConfig } from '../core/config.ts';
import type { Authorization } from './access.ts';

/** How a service that speaks the Messages API is reached. */
export interface Connection {
  sdk: BaseAnthropic;
  base: URL;
  /** Where a turn is asked for, below the base. */
  path: string;
  authorization: Authorization;
  /** Absent: the API's own form of request. */
  platform?: NonNullable<ModelConfig['platform']>;
}
