export interface Comment {
  id: number;
  issue: number;
  body: string;
  user: { login: string; type: 'User' | 'Bot' } | null;
}

/** What happens to a request before the server looks at it. */
export interface Fault {
  /** "POST /repos/o/r/issues/5/comments" begins with it. */
  on: string;
  status?: number;
  headers?: Record<string, string>;
  message?: string;
  /** The connection ends without an answer; `after`: when the request has had its effect. */
  drop?: 'before' | 'after';
  /** How often; default once. */
  times?: number;
}

export interface Pull {
  number: number;
  head: { label: string; sha: string };
}

export interface GithubOptions {
  token?: string;
  /** Who the token is. */
  login?: string;
  /** An installation's token cannot ask GET /user. */
  installation?: boolean;
  /** false: an instance whose GraphQL says no. */
  graphql?: boolean;
  comments?: Comment[];
  pulls?: Pull[];
  /** Numbers of issues and pull requests that exist. */
  issues?: number[];
}

export interface Recorded {
  method: string;
  /** With its query. */
  path: string;
  body: unknown;
}

export interface GithubServer {
  url: string;
  comments: Comment[];
  requests: Recorded[];
  /** What was asked in a way that GitHub would refuse, one sentence each. */
  violations: string[];
  fail(...faults: Fault[]): void;
  /** Called with each request before it is answered, for what others do in the meantime. */
  onRequest(act: (request: Recorded) => void): void;
  close(): Promise<void>;
}
