/**
 * What sync asks of a cluster, and what the controllers of the cluster have to say so that it gets the right answer: object
 * sets to answers. Both sides test against this one table: sync that it reads it so, the controllers that they write it so.
 */
import type { Condition } from '../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { AppliedObject } from '../../../src/sync/health/health.ts';

export interface HealthFixture {
  readonly name: string;
  readonly objects: readonly AppliedObject[];
  readonly answer: 'Settled' | 'Progressing' | 'Failed' | 'Unknown';
  readonly reason?: string;
  readonly because: string;
}

/** `Ready`, `Ready=False RolledBack`, `Stalled@1` (said of generation 1). */
function conditions(words: string): Condition[] {
  return words
    .split(', ')
    .filter((word) => word !== '')
    .map((word) => {
      const [, type = '', status = 'True', generation, reason = 'AsItIs'] =
        /^(\w+)(?:=(\w+))?(?:@(\d+))?(?: (\w+))?$/.exec(word) ?? [];
      return {
        type,
        status: status as Condition['status'],
        observedGeneration: Number(generation ?? 2),
        reason,
        message: reason === 'AsItIs' ? '' : `it is ${reason}`,
        lastTransitionTime: '2030-01-01T00:00:00Z',
      };
    });
}

/** One of our kinds, applied as generation 2. */
function ours(kind: string, words: string, { observed = 2, name = 'a' } = {}): AppliedObject {
  const status = { observedGeneration: observed, conditions: conditions(words) };
  return applied({ apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name, generation: 2 }, status });
}

function applied(seen: KubeObject, generation = seen.metadata.generation ?? 1): AppliedObject {
  const { apiVersion, kind, metadata } = seen;
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }), generation, seen };
}

function plain(type: string, spec: object, status: object, words = ''): AppliedObject {
  const [apiVersion = '', kind = ''] = type.split(' ');
  const said = words === '' ? {} : { conditions: conditions(words) };
  const metadata = { name: 'a', namespace: 'web', generation: 2 };
  return applied({ apiVersion, kind, metadata, spec, status: { ...status, ...said } });
}

const good = ours('Machine', 'Ready', { name: 'good' });
const configMap = applied({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'web' },
  data: {},
});

function deployment(spec: object, status: object, words = ''): AppliedObject {
  return plain('apps/v1 Deployment', { replicas: 3, ...spec }, { observedGeneration: 2, ...status }, words);
}

const FULL = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
const ROLLED_OUT = 'Available, Progressing NewReplicaSetAvailable';

export const OUR_KINDS: readonly HealthFixture[] = [
  {
    name: 'nothing was applied',
    objects: [],
    answer: 'Settled',
    because: 'all 0 objects are as they should be',
  },
  {
    name: 'a Machine is Ready',
    objects: [good],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Machine is not Ready',
    objects: [good, ours('Machine', 'Ready=False Installing')],
    answer: 'Progressing',
    reason: 'Installing',
    because: 'Machine a: Ready=False, it is Installing',
  },
  {
    name: 'a Machine says nothing of Ready',
    objects: [ours('Machine', '')],
    answer: 'Progressing',
    reason: 'Ready',
    because: 'Machine a: Ready is not reported',
  },
  {
    name: 'a Machine is Ready as of an older generation',
    objects: [ours('Machine', 'Ready@1')],
    answer: 'Progressing',
    reason: 'AsItIs',
    because: 'Machine a: Ready=True, AsItIs',
  },
  {
    name: 'its controller has not seen the generation',
    objects: [ours('Machine', 'Ready', { observed: 1 })],
    answer: 'Progressing',
    reason: 'NotObservedYet',
    because: 'Machine a: its controller has not seen generation 2',
  },
  {
    name: 'a MachineComponentSet is Ready',
    objects: [ours('MachineComponentSet', 'Ready, Progressing')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a MachineComponentSet rolls out',
    objects: [ours('MachineComponentSet', 'Ready=False Soaking')],
    answer: 'Progressing',
    reason: 'Soaking',
    because: 'MachineComponentSet a: Ready=False, it is Soaking',
  },
  {
    name: 'a MachineComponentSet rolled back',
    objects: [good, ours('MachineComponentSet', 'Ready=False RolledBack')],
    answer: 'Failed',
    reason: 'RolledBack',
    because: 'MachineComponentSet a: Ready=False, it is RolledBack',
  },
  {
    name: 'it rolled back an older generation',
    objects: [ours('MachineComponentSet', 'Ready=False@1 RolledBack')],
    answer: 'Progressing',
    reason: 'RolledBack',
    because: 'MachineComponentSet a: Ready=False, it is RolledBack',
  },
  {
    name: 'anything of ours is Stalled',
    objects: [good, ours('MachineSet', 'Stalled ImageUnknown, MachinesReady, UpToDate')],
    answer: 'Failed',
    reason: 'ImageUnknown',
    because: 'MachineSet a: Stalled=True, it is ImageUnknown',
  },
  {
    name: 'it was Stalled as of an older generation',
    objects: [ours('MachineSet', 'Stalled@1, MachinesReady, UpToDate')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a MachineSet has its machines, up to date',
    objects: [ours('MachineSet', 'MachinesReady, UpToDate')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a MachineSet has its machines, not up to date',
    objects: [ours('MachineSet', 'MachinesReady, UpToDate=False Rolling')],
    answer: 'Progressing',
    reason: 'Rolling',
    because: 'MachineSet a: UpToDate=False, it is Rolling',
  },
  {
    name: 'a MachineComponent is Accepted',
    objects: [ours('MachineComponent', 'Accepted')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a MachineComponent is not Accepted',
    objects: [ours('MachineComponent', 'Accepted=False BadDigest')],
    answer: 'Progressing',
    reason: 'BadDigest',
    because: 'MachineComponent a: Accepted=False, it is BadDigest',
  },
  {
    name: 'a NodeRemedier is Accepted, whatever else',
    objects: [ours('NodeRemedier', 'Accepted, Enforcing=False Shadow')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a DefenderPolicy is InForce',
    objects: [ours('DefenderPolicy', 'InForce')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a DefenderPolicy is not known to be InForce',
    objects: [ours('DefenderPolicy', 'InForce=Unknown NoLedger')],
    answer: 'Progressing',
    reason: 'NoLedger',
    because: 'DefenderPolicy a: InForce=Unknown, it is NoLedger',
  },
  {
    name: 'one has failed and another cannot be seen',
    objects: [{ ...good, seen: 'unknown' }, ours('Machine', 'Stalled Broken')],
    answer: 'Failed',
    reason: 'Broken',
    because: 'Machine a: Stalled=True, it is Broken',
  },
  {
    name: 'one cannot be seen and another is on its way',
    objects: [ours('Machine', 'Ready=False Installing'), { ...good, seen: 'unknown' }],
    answer: 'Unknown',
    reason: 'NotSeen',
    because: 'Machine good: it cannot be seen',
  },
  {
    name: 'one is gone',
    objects: [{ ...good, seen: 'absent' }],
    answer: 'Progressing',
    reason: 'Missing',
    because: 'Machine good: it is not there',
  },
  {
    name: 'one is seen only as it was before our write',
    objects: [{ ...good, generation: 3 }],
    answer: 'Progressing',
    reason: 'NotSeenYet',
    because: 'Machine good: generation 3 has not been seen yet',
  },
];

export const PLAIN_KINDS: readonly HealthFixture[] = [
  {
    name: 'a ConfigMap is there',
    objects: [configMap],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Deployment has rolled out',
    objects: [deployment({}, FULL, ROLLED_OUT)],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Deployment has no controller that saw it',
    objects: [plain('apps/v1 Deployment', {}, {})],
    answer: 'Progressing',
    reason: 'NotObservedYet',
    because: 'Deployment web/a: its controller has not seen generation 2',
  },
  {
    name: 'a Deployment rolls out',
    objects: [deployment({}, { ...FULL, updatedReplicas: 1 }, 'Available, Progressing ReplicaSetUpdated')],
    answer: 'Progressing',
    reason: 'RollingOut',
    because: 'Deployment web/a: 1 of 3 replicas are updated',
  },
  {
    name: 'a Deployment still has old replicas',
    objects: [deployment({}, { ...FULL, replicas: 4 }, 'Available, Progressing ReplicaSetUpdated')],
    answer: 'Progressing',
    reason: 'RollingOut',
    because: 'Deployment web/a: 3 of 3 replicas are updated',
  },
  {
    name: 'a Deployment passed its deadline',
    objects: [
      deployment(
        {},
        { ...FULL, updatedReplicas: 1 },
        'Available, Progressing=False ProgressDeadlineExceeded',
      ),
    ],
    answer: 'Failed',
    reason: 'ProgressDeadlineExceeded',
    because: 'Deployment web/a: Progressing=False, it is ProgressDeadlineExceeded',
  },
  {
    name: 'a Deployment that rolled out is scaled up',
    objects: [deployment({ replicas: 9 }, { ...FULL, replicas: 9, updatedReplicas: 9 }, ROLLED_OUT)],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Deployment is not available',
    objects: [
      deployment({}, FULL, 'Available=False MinimumReplicasUnavailable, Progressing NewReplicaSetAvailable'),
    ],
    answer: 'Progressing',
    reason: 'NotAvailable',
    because: 'Deployment web/a: Available=False, it is MinimumReplicasUnavailable',
  },
  {
    name: 'a Deployment of no replicas',
    objects: [deployment({ replicas: 0 }, {}, 'Available, Progressing NewReplicaSetAvailable')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a StatefulSet is complete',
    objects: [
      plain(
        'apps/v1 StatefulSet',
        { replicas: 2 },
        { observedGeneration: 2, readyReplicas: 2, currentRevision: 'b', updateRevision: 'b' },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a StatefulSet rolls out',
    objects: [
      plain(
        'apps/v1 StatefulSet',
        { replicas: 2 },
        {
          observedGeneration: 2,
          readyReplicas: 2,
          updatedReplicas: 1,
          currentRevision: 'a',
          updateRevision: 'b',
        },
      ),
    ],
    answer: 'Progressing',
    reason: 'RollingOut',
    because: 'StatefulSet web/a: 1 of 2 replicas are updated',
  },
  {
    name: 'a StatefulSet rolls out down to its partition',
    objects: [
      plain(
        'apps/v1 StatefulSet',
        { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        {
          observedGeneration: 2,
          readyReplicas: 3,
          updatedReplicas: 1,
          currentRevision: 'a',
          updateRevision: 'b',
        },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a StatefulSet is not ready',
    objects: [
      plain(
        'apps/v1 StatefulSet',
        { replicas: 2 },
        { observedGeneration: 2, readyReplicas: 1, currentRevision: 'b', updateRevision: 'b' },
      ),
    ],
    answer: 'Progressing',
    reason: 'NotAvailable',
    because: 'StatefulSet web/a: 1 of 2 replicas are ready',
  },
  {
    name: 'a DaemonSet is everywhere',
    objects: [
      plain(
        'apps/v1 DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a DaemonSet rolls out',
    objects: [
      plain(
        'apps/v1 DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2 },
      ),
    ],
    answer: 'Progressing',
    reason: 'RollingOut',
    because: 'DaemonSet web/a: 1 of 2 pods are updated',
  },
  {
    name: 'a DaemonSet misses a pod',
    objects: [
      plain(
        'apps/v1 DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
      ),
    ],
    answer: 'Progressing',
    reason: 'NotAvailable',
    because: 'DaemonSet web/a: 1 of 2 pods are available',
  },
  {
    name: 'a Job has completed',
    objects: [plain('batch/v1 Job', {}, {}, 'Complete')],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Job runs',
    objects: [plain('batch/v1 Job', {}, { active: 1 })],
    answer: 'Progressing',
    reason: 'Running',
    because: 'Job web/a: it has not completed',
  },
  {
    name: 'a Job is suspended',
    objects: [plain('batch/v1 Job', { suspend: true }, {})],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Job failed',
    objects: [plain('batch/v1 Job', {}, {}, 'Failed BackoffLimitExceeded')],
    answer: 'Failed',
    reason: 'BackoffLimitExceeded',
    because: 'Job web/a: Failed=True, it is BackoffLimitExceeded',
  },
  {
    name: 'a CustomResourceDefinition is served',
    objects: [
      plain('apiextensions.k8s.io/v1 CustomResourceDefinition', {}, {}, 'NamesAccepted, Established'),
    ],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a CustomResourceDefinition is not served yet',
    objects: [plain('apiextensions.k8s.io/v1 CustomResourceDefinition', {}, {}, 'NamesAccepted')],
    answer: 'Progressing',
    reason: 'NotEstablished',
    because: 'CustomResourceDefinition web/a: the API server does not serve it yet',
  },
  {
    name: 'a CustomResourceDefinition has the name of another',
    objects: [
      plain('apiextensions.k8s.io/v1 CustomResourceDefinition', {}, {}, 'NamesAccepted=False PluralConflict'),
    ],
    answer: 'Failed',
    reason: 'PluralConflict',
    because: 'CustomResourceDefinition web/a: NamesAccepted=False, it is PluralConflict',
  },
  {
    name: 'a Namespace is Active',
    objects: [plain('v1 Namespace', {}, { phase: 'Active' })],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'a Namespace goes away',
    objects: [
      applied({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'web', deletionTimestamp: '2030-01-01T00:00:00Z' },
        status: { phase: 'Terminating' },
      }),
    ],
    answer: 'Progressing',
    reason: 'Terminating',
    because: 'Namespace web: it is being deleted',
  },
  {
    name: 'a kind that nobody here knows',
    objects: [plain('example.com/v1 Widget', {}, {})],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
  {
    name: 'it says that it is Stalled',
    objects: [plain('example.com/v1 Widget', {}, {}, 'Stalled NoQuota')],
    answer: 'Failed',
    reason: 'NoQuota',
    because: 'Widget web/a: Stalled=True, it is NoQuota',
  },
  {
    name: 'it says that it is not Ready',
    objects: [plain('example.com/v1 Widget', {}, {}, 'Ready=False Waiting')],
    answer: 'Progressing',
    reason: 'Waiting',
    because: 'Widget web/a: Ready=False, it is Waiting',
  },
  {
    name: 'its controller is behind',
    objects: [plain('example.com/v1 Widget', {}, { observedGeneration: 1 })],
    answer: 'Progressing',
    reason: 'NotObservedYet',
    because: 'Widget web/a: its controller has not seen generation 2',
  },
  {
    name: 'a status that is not one',
    objects: [plain('example.com/v1 Widget', {}, { conditions: 'yes', observedGeneration: 'two' })],
    answer: 'Settled',
    because: 'all 1 objects are as they should be',
  },
];
