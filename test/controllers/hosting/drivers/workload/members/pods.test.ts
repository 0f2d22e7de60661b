import { describe, expect, it } from 'vitest';
import {
  currentPod,
  isPodReady,
  lastWords,
  memberProblem,
  podIdentity,
  podsOfMember,
  remainingPods,
} from '../../../../../../src/controllers/hosting/drivers/workload/members/pods.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../../../../support/builders.ts';

const WORKLOAD: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'etcd', namespace: 'kn-ci', uid: 'sts' },
};

interface PodParts {
  readonly metadata?: Partial<KubeObject['metadata']>;
  readonly status?: object;
}

function pod({ metadata = {}, status = {} }: PodParts = {}): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'etcd', uid: 'sts', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'etcd-0',
      namespace: 'kn-ci',
      uid: 'pod',
      creationTimestamp: ago(60),
      labels: { 'kubenode.dev/part': 'etcd', 'kubenode.dev/cluster': 'ci' },
      ownerReferences: [owner],
      ...metadata,
    },
    status,
  };
}

function problem(found: KubeObject | undefined, workload = WORKLOAD): string {
  const result = memberProblem('etcd', { workload, pod: found, now: NOW });
  return result
    ? `${result.reason} of ${result.blocker.kind} ${result.blocker.name}: ${result.message}`
    : 'none';
}

const scheduling = (seconds: number): PodParts => ({
  status: {
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient memory.',
        lastTransitionTime: ago(seconds),
      },
    ],
  },
});

const waiting = (reason: string, message = 'why', more: object = {}): PodParts => ({
  status: { containerStatuses: [{ restartCount: 0, state: { waiting: { reason, message } }, ...more }] },
});

describe('memberProblem', () => {
  it.each<[name: string, found: KubeObject | undefined, want: string]>([
    ['has none for a pod that is young', pod(scheduling(5)), 'none'],
    [
      'HOS-06 names what keeps a pod from its node, and the pod',
      pod(scheduling(11)),
      'Unschedulable of Pod kn-ci/etcd-0: 0/1 nodes are available: 1 Insufficient memory.',
    ],
    ['has none while a container is created', pod(waiting('ContainerCreating')), 'none'],
    [
      'HOS-06 names an image that cannot be pulled',
      pod(waiting('ImagePullBackOff', 'not found')),
      'ImagePullBackOff of Pod kn-ci/etcd-0: not found',
    ],
    ['has none for a container that ended once', pod(waiting('CrashLoopBackOff')), 'none'],
    [
      'HOS-06 shows the end of the log of a container that ended twice',
      pod(
        waiting('CrashLoopBackOff', 'back-off', {
          restartCount: 1,
          lastState: { terminated: { exitCode: 1, message: 'panic: no space\n' } },
        }),
      ),
      'MemberCrashes of Pod kn-ci/etcd-0: etcd ended 2 times; it is tried again. Read its log: kubectl -n kn-ci logs etcd-0 --previous; its end:\npanic: no space',
    ],
    [
      'HOS-06 shows the error of a program that logs JSON',
      pod(
        waiting('CrashLoopBackOff', 'back-off', {
          restartCount: 2,
          lastState: {
            terminated: {
              exitCode: 1,
              message: 'x\n{"msg":"discovery failed","error":"no peer","stacktrace":"a\\nb"}\n',
            },
          },
        }),
      ),
      'MemberCrashes of Pod kn-ci/etcd-0: etcd ended 3 times; it is tried again. Read its log: kubectl -n kn-ci logs etcd-0 --previous; its end:\ndiscovery failed: no peer',
    ],
    ['has none before the hub has made a pod', undefined, 'none'],
  ])('%s', (_name, found, want) => {
    expect(problem(found)).toBe(want);
  });

  it('HOS-06 names the quota that keeps the hub from making a pod', () => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods' }];
    const deployment = { ...WORKLOAD, kind: 'Deployment', status: { conditions } };
    expect(problem(undefined, deployment)).toBe(
      'PodNotCreated of Deployment kn-ci/etcd: no pod of etcd can be created: exceeded quota: pods',
    );
  });
});

function serverPod(name: string, labels: object): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `uid-${name}`, controller: true };
  return pod({
    metadata: {
      name,
      labels: { 'kubenode.dev/part': 'kube-apiserver', ...labels },
      ownerReferences: [owner],
    },
  });
}

describe('the pods of a member', () => {
  const objects = {
    pods: [] as readonly KubeObject[],
    workloads: new Map([['etcd', WORKLOAD]]),
    keySecrets: new Map(),
    configMaps: new Map(),
    services: new Map(),
    claims: new Map(),
    policies: new Map(),
    budgets: new Map(),
  };
  const names = (...pods: readonly KubeObject[]): readonly string[] =>
    podsOfMember({ ...objects, pods }, 'etcd').map(({ metadata }) => metadata.name);

  it('are those that its workload made, and not one that only has their labels', () => {
    const similar = pod({ metadata: { name: 'similar', ownerReferences: [] } });
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'etcd',
      uid: 'other',
      controller: true,
    };
    const foreign = pod({ metadata: { name: 'foreign', ownerReferences: [owner] } });
    expect(names(pod(), similar, foreign)).toEqual(['etcd-0']);
  });

  it('HOS-13 are those of one API server, and not of another whose name begins the same', () => {
    const pods = [
      serverPod('kube-apiserver-5d9', {}),
      serverPod('kube-apiserver-1-7c4', { 'kubenode.dev/member': 'kube-apiserver-1' }),
    ];
    const of = (member: 'kube-apiserver' | 'kube-apiserver-1'): readonly string[] =>
      podsOfMember({ ...objects, pods }, member).map(({ metadata }) => metadata.name);
    expect([of('kube-apiserver'), of('kube-apiserver-1')]).toEqual([
      ['kube-apiserver-5d9'],
      ['kube-apiserver-1-7c4'],
    ]);
  });

  it('remain until they have ended: one that was evicted has, and one that is being deleted has not', () => {
    const phases = ['Running', 'Pending', 'Failed', 'Succeeded'];
    const pods = phases.map((phase) => pod({ metadata: { name: phase }, status: { phase } }));
    const ending = pod({ metadata: { name: 'ending', deletionTimestamp: ago(1) } });
    const left = remainingPods({ ...objects, pods: [...pods, ending] }, 'etcd');
    expect(left.map(({ metadata }) => metadata.name)).toEqual(['Running', 'Pending', 'ending']);
  });

  it('are led by the newest that is not being deleted', () => {
    const old = pod({ metadata: { uid: 'old', creationTimestamp: ago(90) } });
    const ending = pod({ metadata: { uid: 'ending', creationTimestamp: ago(1), deletionTimestamp: ago(1) } });
    expect(currentPod([old, ending, pod()])?.metadata.uid).toBe('pod');
    expect(currentPod([ending])).toBeUndefined();
  });

  it('have another identity after a restart of their container', () => {
    const restarted = pod({ status: { containerStatuses: [{ restartCount: 1 }] } });
    expect(podIdentity(restarted)).not.toBe(podIdentity(pod()));
  });

  it('are ready when the kubelet reports it, and unknown is not ready', () => {
    const ready = (status: string): KubeObject =>
      pod({ status: { conditions: [{ type: 'Ready', status }] } });
    expect([ready('True'), ready('Unknown'), ready('False'), pod()].map(isPodReady)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(lastWords(pod())).toBeUndefined();
  });
});
