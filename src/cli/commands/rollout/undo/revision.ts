/** Reads the components of a revision as they were resolved: the ControllerRevision that the rollout keeps. */
import type { MachineComponentSet } from '../../../../api/generated/types.ts';
import { NAMESPACE } from '../../../../api/names.ts';
import type { Revision } from '../../../../controllers/componentset/revision/resolve.ts';
import {
  CONTROLLER_REVISIONS,
  readRevision,
  storedName,
} from '../../../../controllers/componentset/revision/stored-revisions.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import { CliError, EXIT } from '../../../errors.ts';

export async function fetchRevision(
  client: Client,
  set: MachineComponentSet,
  revision: string,
  signal: AbortSignal,
): Promise<Revision> {
  const name = storedName(set, revision);
  try {
    const stored = await client.get(CONTROLLER_REVISIONS, { namespace: NAMESPACE, name }, { signal });
    const found = readRevision(revision, stored);
    if (found) return found;
  } catch (error) {
    throw isKubeError(error, 'NotFound', 'Forbidden') ? unreadable(name, error) : error;
  }
  throw unreadable(name, undefined);
}

function unreadable(name: string, cause: unknown): CliError {
  return new CliError(`what revision ${name} contained cannot be read`, {
    where: `ControllerRevision ${NAMESPACE}/${name}`,
    hint: 'apply the set with the earlier versions and parameters: that is the same revision',
    exitCode: isKubeError(cause, 'Forbidden') ? EXIT.denied : EXIT.failed,
    cause,
  });
}
