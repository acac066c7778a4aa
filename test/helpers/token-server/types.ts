/** The ids that the one federation rule of the server knows. */
export interface Rule {
  rule_id: string;
  organization_id: string;
  /** Set: the exchange must name it. */
  service_account_id?: string;
  workspace_id?: string;
  subject: string;
}

export interface TokenServerOptions {
  /** Where requests of the Messages API go on to once their token was checked. */
  upstream?: string;
  /** The key that the service behind knows; absent: the access token goes on to it. */
  upstream_key?: string;
  rule?: Partial<Rule>;
  /** Seconds an access token lives, one for each exchange in order; the last one goes on. */
  expires_in?: number[];
  /** Seconds to add to the claims of identity tokens. */
  skew_s?: number;
  /** Answers in place of the usual ones, in order: `id` to requests for identity tokens, `exchange` to exchanges. */
  faults?: { id?: Fault[]; exchange?: Fault[] };
}

/** null: no fault, answer as usual. */
export type Fault = { status: number; body: string } | 'reset' | null;

export interface TokenServer {
  url: string;
  /** The environment of a job that may ask for identity tokens, federation ids included. */
  env: Record<string, string>;
  /** A fresh identity token, as a system that hands out one has it. */
  issue(): string;
  /** Identity tokens made, and access tokens handed out, in order. */
  identity: string[];
  access: string[];
  /** Access tokens that came with a request of the Messages API, in order. */
  used: string[];
  /** What was wrong with requests that were refused. */
  refusals: string[];
  /** From now on the service answers 401 to this token. */
  revoke(token: string): void;
  close(): Promise<void>;
}
