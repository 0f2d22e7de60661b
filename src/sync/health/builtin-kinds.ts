/**
 * When a plain object is good, by the rules that users of Kubernetes know as kstatus. One difference: a Deployment that
 * has rolled out stays good while it scales, as its own controller sees it; else an autoscaler could hold up a soak for ever.
 */
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { conditionAt, type Finding, failed, GOOD, progressing, saying } from './finding.ts';

type Rule = (object: KubeObject) => Finding;

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['apps/Deployment', deployment],
  ['apps/StatefulSet', statefulSet],
  ['apps/DaemonSet', daemonSet],
  ['batch/Job', job],
  ['apiextensions.k8s.io/CustomResourceDefinition', customResourceDefinition],
  ['/Namespace', namespace],
]);

/** What counts as a controller that has not seen the object yet: these always say which generation they saw. */
const ALWAYS_OBSERVED = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet']);

export function plainReadiness(object: KubeObject, generation: number): Finding {
  const group = object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : '';
  const kind = `${group}/${object.kind}`;
  const observed = valueAt(object, 'status', 'observedGeneration');
  const behind = typeof observed === 'number' ? observed < generation : ALWAYS_OBSERVED.has(kind);
  if (behind) return progressing('NotObservedYet', `its controller has not seen generation ${generation}`);
  return (RULES.get(kind) ?? anything)(object);
}

function deployment(object: KubeObject): Finding {
  const progress = conditionAt(object, 'Progressing');
  if (progress?.status === 'False' && progress.reason === 'ProgressDeadlineExceeded') {
    const { reason, because, since } = saying(progress);
    return failed(reason, because, since);
  }
  // The condition is there only while the Deployment has a deadline.
  const hasDeadline = progress !== undefined;
  const wanted = wantedReplicas(object);
  const updated = counter(object, 'updatedReplicas');
  const rolledOut = progress?.reason === 'NewReplicaSetAvailable' || updated >= wanted;
  if (!rolledOut || counter(object, 'replicas') > updated) {
    return progressing('RollingOut', `${updated} of ${wanted} replicas are updated`, { hasDeadline });
  }
  return availability(object, hasDeadline);
}

function availability(object: KubeObject, hasDeadline: boolean): Finding {
  const available = conditionAt(object, 'Available');
  if (available?.status === 'True') return GOOD;
  if (!available) {
    return progressing('NotAvailable', 'nothing is said about its availability', { hasDeadline });
  }
  const { because, since } = saying(available);
  return progressing('NotAvailable', because, { hasDeadline, ...(since ? { since } : {}) });
}

function statefulSet(object: KubeObject): Finding {
  if (valueAt(object, 'spec', 'updateStrategy', 'type') === 'OnDelete') return GOOD;
  const wanted = wantedReplicas(object);
  const partition = valueAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  const toUpdate = Math.max(0, wanted - (typeof partition === 'number' ? partition : 0));
  const ready = counter(object, 'readyReplicas');
  if (ready < wanted) return progressing('NotAvailable', `${ready} of ${wanted} replicas are ready`);
  const updated = counter(object, 'updatedReplicas');
  // Without a partition the revisions are equal at the end, and only then is the count of updated replicas kept.
  const sameRevision =
    valueAt(object, 'status', 'currentRevision') === valueAt(object, 'status', 'updateRevision');
  if (toUpdate === wanted ? sameRevision : updated >= toUpdate) return GOOD;
  return progressing('RollingOut', `${updated} of ${toUpdate} replicas are updated`);
}

function daemonSet(object: KubeObject): Finding {
  const wanted = counter(object, 'desiredNumberScheduled');
  const updated = counter(object, 'updatedNumberScheduled');
  if (valueAt(object, 'spec', 'updateStrategy', 'type') !== 'OnDelete' && updated < wanted) {
    return progressing('RollingOut', `${updated} of ${wanted} pods are updated`);
  }
  const available = counter(object, 'numberAvailable');
  return available < wanted
    ? progressing('NotAvailable', `${available} of ${wanted} pods are available`)
    : GOOD;
}

function job(object: KubeObject): Finding {
  const broken = conditionAt(object, 'Failed');
  if (broken?.status === 'True') {
    const { reason, because, since } = saying(broken);
    return failed(reason, because, since);
  }
  if (conditionAt(object, 'Complete')?.status === 'True') return GOOD;
  // A person who suspends a Job does not wait for it.
  return valueAt(object, 'spec', 'suspend') === true ? GOOD : progressing('Running', 'it has not completed');
}

function customResourceDefinition(object: KubeObject): Finding {
  const names = conditionAt(object, 'NamesAccepted');
  if (names?.status === 'False') {
    const { reason, because, since } = saying(names);
    return failed(reason, because, since);
  }
  return conditionAt(object, 'Established')?.status === 'True'
    ? GOOD
    : progressing('NotEstablished', 'the API server does not serve it yet');
}

function namespace(object: KubeObject): Finding {
  const phase = valueAt(object, 'status', 'phase');
  return phase === 'Active' ? GOOD : progressing('NotActive', `its phase is ${String(phase)}`);
}

/** Kinds that we do not know: to be there is enough, unless they speak the conventions for conditions. */
function anything(object: KubeObject): Finding {
  const stalled = conditionAt(object, 'Stalled');
  if (stalled?.status === 'True') {
    const { reason, because, since } = saying(stalled);
    return failed(reason, because, since);
  }
  const busy = conditionAt(object, 'Reconciling');
  const ready = conditionAt(object, 'Ready');
  const blocking = busy?.status === 'True' ? busy : ready?.status === 'False' ? ready : undefined;
  if (!blocking) return GOOD;
  const { reason, ...said } = saying(blocking);
  return progressing(reason, said.because, said);
}

function wantedReplicas(object: KubeObject): number {
  const replicas = valueAt(object, 'spec', 'replicas');
  return typeof replicas === 'number' ? replicas : 1;
}

/** A counter that is zero is left out by its controller. */
function counter(object: KubeObject, field: string): number {
  const value = valueAt(object, 'status', field);
  return typeof value === 'number' ? value : 0;
}
