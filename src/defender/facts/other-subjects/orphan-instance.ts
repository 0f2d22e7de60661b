/** The facts of an instance whose Machine does not exist: nothing serves on it, and no person can hold it by a label. Pure. */
import { isOrphanInstanceKey } from '../../../api/grants.ts';
import type { MachineFacts } from '../facts.ts';

/**
 * Returns the facts by the key of the ledger; undefined for any other key. The instance was never Ready as a machine, so it counts neither as
 * available nor as unavailable; its deletion counts as an act of the cluster. Limits by zone and pool count it without either.
 */
export function orphanInstanceFacts(key: string): MachineFacts | undefined {
  if (!isOrphanInstanceKey(key)) return undefined;
  return {
    name: key,
    labels: {},
    readiness: 'NotReady',
    established: false,
    cordoned: false,
    taints: [],
    foreignLeases: [],
    blockingPods: {},
    holds: [],
    excluded: false,
    paused: false,
    repairs: [],
    isControlPlane: false,
  };
}
