import { UsageError } from '../core/errors.ts';
import type { RunConfig } from '../core/config.ts';

/**
 * What a stranger wrote may make the model put what it has read into a search or an address, and the service carries it
 * out of every sandbox. So an untrusted run reaches only the domains that the task names. Throws UsageError.
 */
export function checkServerTools({ task, untrusted }: RunConfig): void {
  const open = (task.server_tools ?? []).find(({ allowed_domains = [] }) => allowed_domains.length === 0);
  if (!untrusted || !open) return;
  throw new UsageError(
    `tools.${open.name} has no allowed_domains and the run is untrusted, so the model could be made to send what it reads anywhere; name the domains it may reach, or leave the tool out`,
  );
}
