/**
 * Why Cluster API permits no disruption of one of its machines. Its pauses, deletions and annotations are those of people, too: kubenode honors
 * them as a hold. Pure.
 */
import type { OwnerHold, OwnerObject } from '../owner.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  ANNOTATION_EXCLUDE_DRAIN,
  ANNOTATION_PAUSED,
  ANNOTATION_SKIP_REMEDIATION,
  type ForeignCluster,
  type ForeignMachine,
} from './contract.ts';

/** `cluster` is undefined when it was not found: whether it is paused is unknown then. */
export function ownerHoldOf(
  machine: ForeignMachine,
  cluster: ForeignCluster | undefined,
): OwnerHold | undefined {
  return deletionHold(machine, cluster) ?? pauseHold(machine, cluster) ?? annotationHold(machine);
}

function deletionHold(machine: ForeignMachine, cluster: ForeignCluster | undefined): OwnerHold | undefined {
  // With the hook it is not drained yet: what is under way here comes to its end first.
  if (machine.isDeleting && !Object.hasOwn(machine.annotations, ANNOTATION_DRAIN_HOOK)) {
    return {
      reason: 'MachineDeleting',
      message: `${machineText(machine)} is being deleted, and drained there`,
    };
  }
  if (cluster?.isDeleting !== true) return undefined;
  return { reason: 'ClusterDeleting', message: `${clusterText(machine)} is being deleted` };
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

export function machineText({ namespace, name }: Pick<OwnerObject, 'namespace' | 'name'>): string {
  return `Machine ${namespace}/${name} of Cluster API`;
}

function clusterText({ namespace, cluster = '' }: ForeignMachine): string {
  return `Cluster ${namespace}/${cluster} of Cluster API`;
}
