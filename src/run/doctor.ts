// What this machine offers to a run, and how to mend what is missing. Nothing is changed and no secret is shown.

import { statSync } from 'node:fs';
import { ciCheck } from './doctor-ci.ts';
import { folderCheck, gitCheck, nodeCheck, sandboxCheck, workspaceCheck } from './doctor-machine.ts';
import { keyCheck, serviceCheck } from './doctor-service.ts';
import type { Check, DoctorRequest } from './doctor-check.ts';

/** Looks at everything a run needs, in the order in which it needs it. */
export async function diagnose(request: DoctorRequest): Promise<Check[]> {
  const { env, workspace } = request;
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory()) {
    return [
      nodeCheck(),
      { name: 'workspace', state: 'fail', text: `${workspace} is no folder`, mend: 'name a folder' },
    ];
  }
  const ci = ciCheck(request);
  return [
    nodeCheck(),
    await gitCheck(workspace, env),
    await workspaceCheck(workspace, env),
    await sandboxCheck(workspace, env, ci.state === 'warn'),
    folderCheck(request),
    keyCheck(env),
    await serviceCheck(request),
    ci,
  ];
}
