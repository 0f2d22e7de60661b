/** Connects a console to a cluster that the hub lists: by the context of its name, or with the Secret of the hub that sync uses. */
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { messageOf } from '../../../os/errors.ts';
import { CliError } from '../../errors.ts';
import { connectBySecret } from '../../fleet/connect-cluster.ts';
import type { Io } from '../../io.ts';
import type { OnCall } from './explain.ts';

export interface ShownClusterParts {
  readonly io: Pick<Io, 'clock' | 'signal'>;
  readonly hub: Client;
  /** Undefined inside a pod. */
  readonly kubeconfig: string | undefined;
  /** Called for every request that is answered. */
  readonly onCall?: OnCall;
}

/** A cluster that a commit adds has no context in the kubeconfig of the person, and its machines belong to the fleet all the same. */
export async function connectShownCluster(
  name: string,
  { io, hub, kubeconfig, onCall }: ShownClusterParts,
): Promise<Client> {
  const { clock, signal } = io;
  try {
    return await connect({
      clock,
      context: name,
      ...optional('kubeconfig', kubeconfig),
      ...optional('onCall', onCall),
    });
  } catch (error) {
    if (!isKubeError(error, 'Config')) throw error;
    const bySecret = hub
      .get<Cluster>(CLUSTERS, { name }, { signal })
      .then((cluster) => connectBySecret(io, hub, cluster, onCall));
    return await bySecret.catch((other: unknown) => {
      throw new CliError(`${error.message}; and with the Secret of the hub: ${messageOf(other)}`, {
        cause: other,
      });
    });
  }
}
