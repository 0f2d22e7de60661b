/**
 * Health of built-in and third-party kinds by the rules of kstatus. One difference: a Deployment that has rolled out stays
 * healthy while it scales, as its own controller reports it; otherwise an autoscaler could stop a soak indefinitely.
 */
import { valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { RULES_OF_RESOURCES } from './builtin-resources.ts';
import { conditionAt, explain, failed, HEALTHY, type HealthFinding, progressing } from './finding.ts';

type Rule = (object: KubeObject) => HealthFinding;

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['apps/Deployment', deployment],
  ['apps/StatefulSet', statefulSet],
  ['apps/DaemonSet', daemonSet],
  ['batch/Job', job],
  ['apiextensions.k8s.io/CustomResourceDefinition', customResourceDefinition],
  ['/Namespace', namespace],
  ...RULES_OF_RESOURCES,
]);

/** Kinds whose controller always writes observedGeneration: without it, the controller has not observed the object yet. */
const ALWAYS_OBSERVED = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet']);

export function builtinKindFinding(object: KubeObject, generation: number): HealthFinding {
  const group = object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : '';
  const kind = `${group}/${object.kind}`;
  const observed = valueAt(object, 'status', 'observedGeneration');
  const behind = typeof observed === 'number' ? observed < generation : ALWAYS_OBSERVED.has(kind);
  if (behind) {
    return progressing('NotObservedYet', `its controller has not observed generation ${generation}`);
  }
  return (RULES.get(kind) ?? otherKind)(object);
}

function deployment(object: KubeObject): HealthFinding {
  const progress = conditionAt(object, 'Progressing');
  if (progress?.status === 'False' && progress.reason === 'ProgressDeadlineExceeded') {
    const { reason, because, since } = explain(progress);
    return failed(reason, because, since);
  }
  // The condition exists only while the Deployment has a deadline.
  const hasDeadline = progress !== undefined;
  const desired = desiredReplicas(object);
  const updated = counter(object, 'updatedReplicas');
  const rolledOut = progress?.reason === 'NewReplicaSetAvailable' || updated >= desired;
  if (!rolledOut || counter(object, 'replicas') > updated) {
    return progressing('RollingOut', `${updated} of ${desired} replicas are updated`, { hasDeadline });
  }
  return availability(object, hasDeadline);
}

function availability(object: KubeObject, hasDeadline: boolean): HealthFinding {
  const available = conditionAt(object, 'Available');
  if (available?.status === 'True') return HEALTHY;
  if (!available) {
    return progressing('NotAvailable', 'condition Available is not reported', { hasDeadline });
  }
  const { because, since } = explain(available);
  return progressing('NotAvailable', because, { hasDeadline, ...(since ? { since } : {}) });
}

function statefulSet(object: KubeObject): HealthFinding {
  if (valueAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete') return HEALTHY;
  const desired = desiredReplicas(object);
  const partition = valueAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  const toUpdate = Math.max(0, desired - (typeof partition === 'number' ? partition : 0));
  const ready = counter(object, 'readyReplicas');
  if (ready < desired) return progressing('NotAvailable', `${ready} of ${desired} replicas are ready`);
  const updated = counter(object, 'updatedReplicas');
  // Without a partition the revisions are equal once the update is done; updatedReplicas is only kept with a partition.
  const sameRevision =
    valueAt(object, 'status', 'currentRevision') === valueAt(object, 'status', 'updateRevision');
  if (toUpdate === desired ? sameRevision : updated >= toUpdate) return HEALTHY;
  return progressing('RollingOut', `${updated} of ${toUpdate} replicas are updated`);
}

function daemonSet(object: KubeObject): HealthFinding {
  const desired = counter(object, 'desiredNumberScheduled');
  const updated = counter(object, 'updatedNumberScheduled');
  if (valueAt(object, 'spec', 'updateStrategy', 'type') !== 'OnDelete' && updated < desired) {
    return progressing('RollingOut', `${updated} of ${desired} pods are updated`);
  }
  const available = counter(object, 'numberAvailable');
  return available < desired
    ? progressing('NotAvailable', `${available} of ${desired} pods are available`)
    : HEALTHY;
}

function job(object: KubeObject): HealthFinding {
  const broken = conditionAt(object, 'Failed');
  if (broken?.status === 'True') {
    const { reason, because, since } = explain(broken);
    return failed(reason, because, since);
  }
  if (conditionAt(object, 'Complete')?.status === 'True') return HEALTHY;
  // A suspended Job is suspended on purpose: nothing waits for it.
  return valueAt(object, 'spec', 'suspend') === true
    ? HEALTHY
    : progressing('Running', 'it has not completed');
}

function customResourceDefinition(object: KubeObject): HealthFinding {
  const names = conditionAt(object, 'NamesAccepted');
  if (names?.status === 'False') {
    const { reason, because, since } = explain(names);
    return failed(reason, because, since);
  }
  return conditionAt(object, 'Established')?.status === 'True'
    ? HEALTHY
    : progressing('NotEstablished', 'the API server does not serve it yet');
}

function namespace(object: KubeObject): HealthFinding {
  const phase = valueAt(object, 'status', 'phase');
  return phase === 'Active' ? HEALTHY : progressing('NotActive', `its phase is ${String(phase)}`);
}

/** Other kinds: an object that exists is healthy, unless its conditions follow the Kubernetes conventions and report otherwise. */
function otherKind(object: KubeObject): HealthFinding {
  const stalled = conditionAt(object, 'Stalled');
  if (stalled?.status === 'True') {
    const { reason, because, since } = explain(stalled);
    return failed(reason, because, since);
  }
  const busy = conditionAt(object, 'Reconciling');
  const ready = conditionAt(object, 'Ready');
  const blocking = busy?.status === 'True' ? busy : ready?.status === 'False' ? ready : undefined;
  if (!blocking) return HEALTHY;
  const { reason, because, ...rest } = explain(blocking);
  return progressing(reason, because, rest);
}

function desiredReplicas(object: KubeObject): number {
  const replicas = valueAt(object, 'spec', 'replicas');
  return typeof replicas === 'number' ? replicas : 1;
}

/** Controllers omit counters that are zero. */
function counter(object: KubeObject, field: string): number {
  const value = valueAt(object, 'status', field);
  return typeof value === 'number' ? value : 0;
}
