import { FLEET_POLICIES } from '../../../api/generated/resources.ts';
import type { FleetPolicy } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { CliError, EXIT } from '../../errors.ts';

/** Reads the limits over clusters from the hub, in the order of their names. */
export async function readFleetPolicies(
  client: Client,
  signal: AbortSignal,
): Promise<readonly FleetPolicy[]> {
  try {
    const { items } = await client.list<FleetPolicy>(FLEET_POLICIES, { signal });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError('this cluster has no limits over clusters: kind FleetPolicy is not installed', {
      where: client.server,
      hint: 'run `kubenode install`, or point --context at the hub',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}
