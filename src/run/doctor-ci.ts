import { baseCommit } from '../config/event-commits.ts';
import { untrustedReason } from '../config/trust.ts';
import type { Check, DoctorRequest } from './doctor-check.ts';
import type { Env } from './place.ts';

const SYSTEMS = [
  ['GITHUB_ACTIONS', 'GitHub Actions'],
  ['GITLAB_CI', 'GitLab CI'],
  ['JENKINS_URL', 'Jenkins'],
  ['CI', 'a CI system'],
] as const;

/** Where this runs, and whether a run would be an untrusted one. */
export function ciCheck({ env, untrusted }: Pick<DoctorRequest, 'env' | 'untrusted'>): Check {
  const system = SYSTEMS.find(([name]) => env[name] && env[name] !== 'false')?.[1] ?? 'no CI system';
  const event = env['GITHUB_EVENT_NAME'];
  const where = event ? `${system}, event ${event}` : system;
  const reason = untrusted ? 'said by --untrusted or AGENT_RUN_UNTRUSTED' : untrustedReason(env);
  if (reason === undefined) return { name: 'ci', state: 'ok', text: `${where}; a run is trusted` };
  return { name: 'ci', state: 'warn', text: `${where}; a run is untrusted: ${reason}`, mend: mendFor(env) };
}

function mendFor(env: Env): string {
  return `a task in the checkout is refused: read it from a commit of the base with --task-ref ${baseCommit(env) ?? 'BASE'}`;
}
