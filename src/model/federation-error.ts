import { errorText } from '../core/errors.ts';

/** A keyless run did not get its access token; the message says at which step, and what to do. */
export class FederationError extends Error {
  /** Trying again may help. */
  readonly retry: boolean;
  readonly status: number | undefined;

  constructor(message: string, options: { retry?: boolean; status?: number | undefined; cause?: unknown } = {}) {
    super(options.cause === undefined ? message : `${message} (${errorText(options.cause)})`);
    this.name = 'FederationError';
    this.retry = options.retry ?? false;
    this.status = options.status;
  }
}
