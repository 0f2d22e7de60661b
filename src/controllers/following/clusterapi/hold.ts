/**
 * Why Cluster API permits no disruption of one of its machines. Its pauses, deletions and annotations are those of people, too: kubenode honors
 * them as a hold. Pure.
 */
import type { Machine } from '../../../api/generated/types.ts';
import { followedObject } from '../../../providers/followed.ts';
import type { OwnerHold, OwnerObject } from '../owner.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  ANNOTATION_EXCLUDE_DRAIN,
  ANNOTATION_PAUSED,
  ANNOTATION_SKIP_REMEDIATION,
  type ForeignCluster,
  type ForeignMachine,
  LABEL_CLUSTER_NAME,
} from './contract.ts';

/** `cluster` is undefined when it was not found: whether it is paused is unknown then. */
export function ownerHoldOf(
  machine: ForeignMachine,
  cluster: ForeignCluster | undefined,
): OwnerHold | undefined {
  return deletionHold(machine, cluster) ?? pauseHold(machine, cluster) ?? annotationHold(machine);
}

function deletionHold(machine: ForeignMachine, cluster: ForeignCluster | undefined): OwnerHold | undefined {
  if (machine.isDeleting && !waitsForHook(machine)) {
    return {
      reason: 'MachineDeleting',
      message: `${machineText(machine)} is being deleted, and drained there`,
    };
  }
  if (cluster?.isDeleting !== true) return undefined;
  return { reason: 'ClusterDeleting', message: `${clusterText(machine)} is being deleted` };
}

/** Tells whether an act that is under way here comes to its end first: not when Cluster API drains all the same. */
function waitsForHook({ annotations, isDraining }: ForeignMachine): boolean {
  return Object.hasOwn(annotations, ANNOTATION_DRAIN_HOOK) && !isDraining;
}

function pauseHold(machine: ForeignMachine, cluster: ForeignCluster | undefined): OwnerHold | undefined {
  if (Object.hasOwn(machine.annotations, ANNOTATION_PAUSED)) {
    return {
      reason: 'MachinePaused',
      message: `${machineText(machine)} has the annotation ${ANNOTATION_PAUSED}`,
    };
  }
  if (!cluster) return { reason: 'ClusterUnknown', message: `${clusterText(machine)} was not found` };
  return cluster.isPaused
    ? { reason: 'ClusterPaused', message: `${clusterText(machine)} is paused` }
    : undefined;
}

function annotationHold(machine: ForeignMachine): OwnerHold | undefined {
  const excluded = [ANNOTATION_EXCLUDE_DRAIN, ANNOTATION_SKIP_REMEDIATION].find((each) =>
    Object.hasOwn(machine.annotations, each),
  );
  if (excluded === undefined) return undefined;
  const reason = excluded === ANNOTATION_EXCLUDE_DRAIN ? 'DrainExcluded' : 'RemediationSkipped';
  return { reason, message: `${machineText(machine)} has the annotation ${excluded}` };
}

/** While a Cluster is paused its objects may be moved to another management cluster, which deletes them here, and no instance. */
export function pausedClusterHold(
  machine: Machine,
  clusters: readonly ForeignCluster[],
): OwnerHold | undefined {
  const namespace = followedObject(machine)?.namespace;
  const name = machine.metadata.labels?.[LABEL_CLUSTER_NAME];
  const found = clusters.find((each) => each.namespace === namespace && each.name === name);
  if (found?.isPaused !== true) return undefined;
  return {
    reason: 'ClusterPaused',
    message: `Cluster ${namespace}/${name} of Cluster API is paused, and its Machine was not found`,
  };
}

export function machineText({ namespace, name }: Pick<OwnerObject, 'namespace' | 'name'>): string {
  return `Machine ${namespace}/${name} of Cluster API`;
}

function clusterText({ namespace, cluster = '' }: ForeignMachine): string {
  return `Cluster ${namespace}/${cluster} of Cluster API`;
}
