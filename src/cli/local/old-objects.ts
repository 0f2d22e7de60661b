/** Runs the last step of an installation: deletes what an earlier version left. */
import { installation } from '../../api/install/installation.ts';
import { type RemovedObject, removeOld } from '../../api/install/remove-old.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { describeError } from '../errors.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';

interface OldObjectsOptions {
  readonly dryRun: boolean;
  /** The objects of this installation. */
  readonly objects: readonly KubeObject[];
}

/** Deletes old objects. A user who may not list these kinds has installed everything nevertheless, and gets a warning. */
export async function removeOldObjects(
  io: Io,
  client: Client,
  { dryRun, objects }: OldObjectsOptions,
): Promise<readonly RemovedObject[]> {
  try {
    const declared = [...installation(), ...objects];
    return await removeOld(client, declared, { dryRun, signal: io.signal });
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    printWarnings(io, [
      `objects of earlier versions of kubenode were not removed: ${describeError(error).text}. ` +
        'Grant the rights of the guide docs/guides/install.md, and install again',
    ]);
    return [];
  }
}
