/** The connection failed: nothing, or not the whole, of an answer came. */
export class TransportError extends Error {
  /** The system's name of the cause: ECONNRESET. */
  readonly code: string;
  /** No connection stood yet, so the service never saw the request. */
  readonly unsent: boolean;
  /** Trying again meets the same wall: a certificate that is not trusted, a proxy that says no. */
  readonly final: boolean;

  constructor(message: string, options: { cause?: unknown; final?: boolean } = {}) {
    const cause = innermost(options.cause);
    // Not kept as `cause`: the SDK would read "timed out" in it and throw an error without the cause instead.
    super(message);
    this.name = 'TransportError';
    this.code = cause.code;
    this.unsent = options.cause === undefined || cause.syscall === 'connect' || cause.syscall === 'getaddrinfo';
    this.final = options.final ?? isCertificate(cause.code);
  }
}

/** Whether what a fetch threw will be thrown by the next attempt, too. */
export function isFinal(cause: unknown): boolean {
  return cause instanceof TransportError && cause.final;
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code);
}

// AggregateError is what Node throws when every address of a host failed; one of them stands for all.
function innermost(error: unknown): { code: string; syscall?: string } {
  if (error instanceof TransportError) return { code: error.code, ...(error.unsent ? { syscall: 'connect' } : {}) };
  const one: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  if (!(one instanceof Error)) return { code: '' };
  const code = 'code' in one && typeof one.code === 'string' ? one.code : '';
  return { code, ...('syscall' in one && typeof one.syscall === 'string' ? { syscall: one.syscall } : {}) };
}
