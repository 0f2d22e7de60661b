/** Sets of built-in and third-party kinds and their health. */
import type { AppliedObject } from '../../../src/sync/health/health.ts';
import { applied, type HealthFixture, otherObject } from './fixtures.ts';

const configMap = applied({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'web' },
  data: {},
});

function deployment(spec: object, status: object, words = ''): AppliedObject {
  const observed = { observedGeneration: 2, ...status };
  return otherObject('apps/v1 Deployment', { replicas: 3, ...spec }, observed, words);
}

const FULL = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
const ROLLED_OUT = 'Available, Progressing NewReplicaSetAvailable';

export const BUILTIN_KINDS: readonly HealthFixture[] = [
  {
    name: 'a ConfigMap exists',
    objects: [configMap],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Deployment has rolled out',
    objects: [deployment({}, FULL, ROLLED_OUT)],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'the Deployment controller has not observed a Deployment',
    objects: [otherObject('apps/v1 Deployment', {}, {})],
    answer: 'Progressing',
    reason: 'NotObservedYet',
    because: 'Deployment web/a: its controller has not observed generation 2',
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
    because: 'all 1 objects are healthy',
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
    name: 'a Deployment has zero replicas',
    objects: [deployment({ replicas: 0 }, {}, 'Available, Progressing NewReplicaSetAvailable')],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a StatefulSet is complete',
    objects: [
      otherObject(
        'apps/v1 StatefulSet',
        { replicas: 2 },
        { observedGeneration: 2, readyReplicas: 2, currentRevision: 'b', updateRevision: 'b' },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a StatefulSet rolls out',
    objects: [
      otherObject(
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
      otherObject(
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
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a StatefulSet is not ready',
    objects: [
      otherObject(
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
    name: 'a DaemonSet is available on every node',
    objects: [
      otherObject(
        'apps/v1 DaemonSet',
        {},
        { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a DaemonSet rolls out',
    objects: [
      otherObject(
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
    name: 'a DaemonSet lacks an available pod',
    objects: [
      otherObject(
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
    objects: [otherObject('batch/v1 Job', {}, {}, 'Complete')],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Job runs',
    objects: [otherObject('batch/v1 Job', {}, { active: 1 })],
    answer: 'Progressing',
    reason: 'Running',
    because: 'Job web/a: it has not completed',
  },
  {
    name: 'a Job is suspended',
    objects: [otherObject('batch/v1 Job', { suspend: true }, {})],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Job failed',
    objects: [otherObject('batch/v1 Job', {}, {}, 'Failed BackoffLimitExceeded')],
    answer: 'Failed',
    reason: 'BackoffLimitExceeded',
    because: 'Job web/a: Failed=True, it is BackoffLimitExceeded',
  },
  {
    name: 'a CustomResourceDefinition is served',
    objects: [
      otherObject('apiextensions.k8s.io/v1 CustomResourceDefinition', {}, {}, 'NamesAccepted, Established'),
    ],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a CustomResourceDefinition is not served yet',
    objects: [otherObject('apiextensions.k8s.io/v1 CustomResourceDefinition', {}, {}, 'NamesAccepted')],
    answer: 'Progressing',
    reason: 'NotEstablished',
    because: 'CustomResourceDefinition web/a: the API server does not serve it yet',
  },
  {
    name: 'a CustomResourceDefinition conflicts with another name',
    objects: [
      otherObject(
        'apiextensions.k8s.io/v1 CustomResourceDefinition',
        {},
        {},
        'NamesAccepted=False PluralConflict',
      ),
    ],
    answer: 'Failed',
    reason: 'PluralConflict',
    because: 'CustomResourceDefinition web/a: NamesAccepted=False, it is PluralConflict',
  },
  {
    name: 'a Namespace is Active',
    objects: [otherObject('v1 Namespace', {}, { phase: 'Active' })],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Namespace is being deleted',
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
    name: 'a Pod is Ready',
    objects: [otherObject('v1 Pod', {}, { phase: 'Running' }, 'Ready')],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Pod has succeeded',
    objects: [otherObject('v1 Pod', {}, { phase: 'Succeeded' }, 'Ready=False PodCompleted')],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a Pod is not Ready',
    objects: [otherObject('v1 Pod', {}, { phase: 'Running' }, 'Ready=False ContainersNotReady')],
    answer: 'Progressing',
    reason: 'NotReady',
    because: 'Pod web/a: Ready=False, it is ContainersNotReady',
  },
  {
    name: 'a Pod is not scheduled',
    objects: [otherObject('v1 Pod', {}, { phase: 'Pending' })],
    answer: 'Progressing',
    reason: 'NotReady',
    because: 'Pod web/a: its phase is Pending',
  },
  {
    name: 'a Pod failed',
    objects: [otherObject('v1 Pod', {}, { phase: 'Failed', reason: 'Evicted', message: 'low on memory' })],
    answer: 'Failed',
    reason: 'Evicted',
    because: 'Pod web/a: low on memory',
  },
  {
    name: 'a Pod failed without a reason',
    objects: [otherObject('v1 Pod', {}, { phase: 'Failed' })],
    answer: 'Failed',
    reason: 'PodFailed',
    because: 'Pod web/a: it ended: PodFailed',
  },
  {
    name: 'a PersistentVolumeClaim is bound',
    objects: [otherObject('v1 PersistentVolumeClaim', {}, { phase: 'Bound' })],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a PersistentVolumeClaim has no volume yet',
    objects: [otherObject('v1 PersistentVolumeClaim', {}, { phase: 'Pending' })],
    answer: 'Progressing',
    reason: 'NotBound',
    because: 'PersistentVolumeClaim web/a: its phase is Pending: no volume is bound to it yet',
  },
  {
    name: 'a PersistentVolumeClaim whose volume does not exist any more',
    objects: [otherObject('v1 PersistentVolumeClaim', {}, { phase: 'Lost' })],
    answer: 'Failed',
    reason: 'VolumeLost',
    because: 'PersistentVolumeClaim web/a: its volume does not exist any more',
  },
  {
    name: 'a Service needs no load balancer',
    objects: [otherObject('v1 Service', { type: 'ClusterIP' }, {})],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a load balancer has an address',
    objects: [
      otherObject(
        'v1 Service',
        { type: 'LoadBalancer' },
        { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
      ),
    ],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'a load balancer has no address',
    objects: [otherObject('v1 Service', { type: 'LoadBalancer' }, { loadBalancer: {} })],
    answer: 'Progressing',
    reason: 'NoAddress',
    because: 'Service web/a: its load balancer has no address yet',
  },
  {
    name: 'an APIService is available',
    objects: [otherObject('apiregistration.k8s.io/v1 APIService', {}, {}, 'Available')],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'an APIService is not available',
    objects: [
      otherObject('apiregistration.k8s.io/v1 APIService', {}, {}, 'Available=False MissingEndpoints'),
    ],
    answer: 'Progressing',
    reason: 'NotAvailable',
    because: 'APIService web/a: Available=False, it is MissingEndpoints',
  },
  {
    name: 'an APIService is new',
    objects: [otherObject('apiregistration.k8s.io/v1 APIService', {}, {})],
    answer: 'Progressing',
    reason: 'NotAvailable',
    because: 'APIService web/a: condition Available is not reported',
  },
  {
    name: 'an object of an unknown kind exists',
    objects: [otherObject('example.com/v1 Widget', {}, {})],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
  {
    name: 'an unknown kind reports Stalled',
    objects: [otherObject('example.com/v1 Widget', {}, {}, 'Stalled NoQuota')],
    answer: 'Failed',
    reason: 'NoQuota',
    because: 'Widget web/a: Stalled=True, it is NoQuota',
  },
  {
    name: 'an unknown kind reports Ready=False',
    objects: [otherObject('example.com/v1 Widget', {}, {}, 'Ready=False Waiting')],
    answer: 'Progressing',
    reason: 'Waiting',
    because: 'Widget web/a: Ready=False, it is Waiting',
  },
  {
    name: 'the controller of an unknown kind has observed an older generation',
    objects: [otherObject('example.com/v1 Widget', {}, { observedGeneration: 1 })],
    answer: 'Progressing',
    reason: 'NotObservedYet',
    because: 'Widget web/a: its controller has not observed generation 2',
  },
  {
    name: 'an unknown kind has a malformed status',
    objects: [otherObject('example.com/v1 Widget', {}, { conditions: 'yes', observedGeneration: 'two' })],
    answer: 'Settled',
    because: 'all 1 objects are healthy',
  },
];
