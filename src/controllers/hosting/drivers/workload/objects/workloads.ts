/**
 * Builds the workloads of a control plane: each member of etcd as a StatefulSet of its own, of which no second pod begins before the first has
 * ended, so that each is changed when its turn is; others as Deployments. Pure.
 */
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import { isApiServer, isEtcdMember } from '../../driver.ts';
import { memberLabels, planeNamespace, type WorkloadMember } from '../names.ts';
import { type PodParts, podTemplate } from './pods.ts';

export const DEPLOYMENTS: Resource = appsKind('Deployment');
export const STATEFUL_SETS: Resource = appsKind('StatefulSet');

function appsKind(kind: string): Resource {
  return { group: 'apps', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

export function workloadResource(member: WorkloadMember): Resource {
  return isEtcdMember(member) ? STATEFUL_SETS : DEPLOYMENTS;
}

export function memberWorkload(member: WorkloadMember, parts: PodParts): KubeObject {
  const { cluster } = parts.plane;
  const labels = memberLabels(cluster, member);
  return {
    apiVersion: 'apps/v1',
    kind: workloadResource(member).kind,
    metadata: { name: member, namespace: planeNamespace(cluster), labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      ...strategyOf(member),
      template: podTemplate(member, parts),
    },
  };
}

function strategyOf(member: WorkloadMember): object {
  // The Service gives the pod its name; none uses it.
  if (isEtcdMember(member)) return { serviceName: member, podManagementPolicy: 'Parallel' };
  return isApiServer(member) ? SURGE : ONE_AT_A_TIME;
}

/** The next API server serves before the former one ends, so that clients see no gap. Two share an etcd without knowing of each other. */
const SURGE = {
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  revisionHistoryLimit: 2,
};

/** Managers elect no leader, so that two at once would both act. */
const ONE_AT_A_TIME = { strategy: { type: 'Recreate' }, revisionHistoryLimit: 2 };
