/** Pods with containers that restarted, for tests. */
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago } from '../../../support/builders.ts';

export interface RestartedPodParts {
  readonly uid?: string;
  readonly node?: string;
  /** Seconds ago. */
  readonly started?: number;
  /** How often, and how many seconds ago the last time. */
  readonly restarts?: number;
  readonly ended?: number;
  /** Of its owner. */
  readonly owner?: 'DaemonSet' | 'Node' | 'ReplicaSet';
  readonly list?: 'containerStatuses' | 'initContainerStatuses';
}

export function restartedPod(name: string, parts: RestartedPodParts = {}): KubeObject {
  const { uid = name, node = 'm-1', started = 3600, restarts = 0, ended, owner } = parts;
  const lastState = ended === undefined ? {} : { terminated: { exitCode: 1, finishedAt: ago(ended) } };
  const container = { name: 'app', image: 'app:1', restartCount: restarts, lastState };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'web',
      uid,
      resourceVersion: '7',
      labels: { app: 'web' },
      ...ownedBy(owner),
    },
    spec: { nodeName: node, containers: [{ name: 'app', image: 'app:1' }] },
    status: { startTime: ago(started), phase: 'Running', [parts.list ?? 'containerStatuses']: [container] },
  };
}

function ownedBy(kind: RestartedPodParts['owner']): object {
  return kind ? { ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'o', uid: 'o' }] } : {};
}
