/** Watches the Machines and Clusters of Cluster API while the API server serves them. */

import { createOptionalViews, type KindLists } from '../../../../kube/cache/optional-views.ts';
import type { ViewOptions } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { isUnreadable, type Unreadable } from '../../owner.ts';
import {
  CLUSTER_API_GROUP,
  CLUSTER_API_VERSIONS,
  type ForeignMachine,
  foreignCluster,
  foreignMachine,
  trimForeign,
} from '../contract.ts';
import type { ForeignClusterName } from '../management.ts';
import type { ForeignObjects } from '../owner.ts';

export interface ForeignSource {
  /**
   * Watches until the returned function is called. `changed` is called after each change of what `read` returns. Several callers share one watch.
   */
  open(changed: () => void): () => void;
  /** Undefined: they are being listed for the first time. */
  read(): ForeignObjects | Unreadable | undefined;
  /** Reads them from the API server. Rejects if it cannot: what is not read completely is never missing. */
  list(signal: AbortSignal): Promise<ForeignObjects>;
}

export interface ForeignSourceOptions
  extends Pick<ViewOptions<KubeObject>, 'clock' | 'log' | 'random' | 'metrics'> {
  /** For the cluster that has the objects of Cluster API. */
  readonly client: Client;
  /** The Cluster of the Nodes, in a management cluster that has others as well. */
  readonly cluster?: ForeignClusterName | undefined;
}

const KINDS = [
  ['Machine', 'machines'],
  ['Cluster', 'clusters'],
] as const;

const NOT_SERVED = `the API server does not serve Machines and Clusters of ${CLUSTER_API_GROUP} in ${CLUSTER_API_VERSIONS.join(' or ')}. Install Cluster API, or start without --cluster-api`;

export function createForeignSource(options: ForeignSourceOptions): ForeignSource {
  const { log, cluster } = options;
  const views = createOptionalViews({
    ...options,
    ...optional('namespace', cluster?.namespace),
    versions: CLUSTER_API_VERSIONS.map(kindsOf),
    transform: trimForeign,
    owner: 'Cluster API',
    notServed: NOT_SERVED,
    forbiddenHint: 'Run kubenode install --cluster-api',
    found: (version) => log.info('cluster api found', { version }),
    failed: (error) => log.warn('cluster api was not looked for', { error }),
  });
  const listeners = new Set<() => void>();
  let stop: (() => void) | undefined;
  return {
    open: (changed) => {
      const listener = (): void => changed();
      listeners.add(listener);
      stop ??= views.open(() => {
        for (const each of listeners) each();
      });
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
    read: () => {
      const found = views.read();
      return found && (isUnreadable(found) ? found : objectsOf(found, cluster));
    },
    list: async (signal) => {
      const found = objectsOf(await views.list(signal), cluster);
      if (isUnreadable(found)) throw new Error(found.unreadable);
      return found;
    },
  };
}

function kindsOf(version: string): readonly Resource[] {
  return KINDS.map(([kind, plural]) => ({
    group: CLUSTER_API_GROUP,
    version,
    kind,
    plural,
    namespaced: true,
  }));
}

function objectsOf(
  [machineObjects = [], clusterObjects = []]: KindLists,
  cluster: ForeignClusterName | undefined,
): ForeignObjects | Unreadable {
  const [machines, clusters] = [machineObjects.map(foreignMachine), clusterObjects.map(foreignCluster)];
  if (!cluster) return { machines, clusters };
  const { namespace, name } = cluster;
  const own = clusters.filter((each) => each.namespace === namespace && each.name === name);
  // The name is wrong, or the Cluster was moved: its Machines are somewhere else, and were not deleted.
  if (own.length === 0) {
    const unreadable = `Cluster ${namespace}/${name} of Cluster API was not found. Check --cluster-api-cluster`;
    return { unreadable };
  }
  const isOwn = (each: ForeignMachine): boolean => each.namespace === namespace && each.cluster === name;
  return { machines: machines.filter(isOwn), clusters: own };
}
