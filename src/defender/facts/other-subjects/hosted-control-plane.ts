/** The facts of a hosted control plane, from its Cluster in the hub. What was not observed is absent. Pure. */

import type { Cluster } from '../../../api/generated/types.ts';
import { hostedControlPlaneKey } from '../../../api/grants.ts';
import { LABEL_EXCLUDE } from '../../../api/names.ts';
import { selectableLabels } from '../../../api/status/cluster-labels.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import type { MachineFacts } from '../facts.ts';

const READINESS = { True: 'Ready', False: 'NotReady', Unknown: 'Unknown' } as const;
const KEY = hostedControlPlaneKey('');

/**
 * Returns the facts that a decision about a control plane is made on. It is not a machine: it belongs to no pool and no zone, and is counted
 * neither as available nor as unavailable, so that a limit counts the acts on control planes that are in work.
 */
export function hostedControlPlaneFacts(cluster: Cluster): MachineFacts | undefined {
  const { metadata, spec, status } = cluster;
  if (!spec.hosted) return undefined;
  const labels = selectableLabels(cluster);
  return {
    name: hostedControlPlaneKey(metadata.name),
    labels,
    readiness: READINESS[conditionStatus(status?.conditions, 'ControlPlaneReady')],
    established: false,
    cordoned: false,
    taints: [],
    foreignLeases: [],
    blockingPods: {},
    excluded: labels[LABEL_EXCLUDE] !== undefined,
    paused: spec.paused,
    repairs: [],
    isControlPlane: false,
  };
}

/** Returns the name of the Cluster whose control plane has this key. Undefined: it is the name of a Machine. */
export function clusterOfKey(key: string): string | undefined {
  return key.startsWith(KEY) ? key.slice(KEY.length) : undefined;
}
