import { describe, expect, it } from 'vitest';
import { type KubeletFacts, nodeLease, nodeObject, nodeStatus } from '../../../src/local/kubelet/node.ts';

const FACTS: KubeletFacts = {
  name: 'n1',
  kubeletVersion: 'v1.36.3',
  bootId: 'boot-1',
  machineId: 'machine-1',
  kernel: '6.1.0',
  arch: 'amd64',
  cpus: 4,
  memoryBytes: 8 * 1024 ** 3 + 100,
  pods: 110,
  address: '127.0.0.1',
};
const SINCE = new Date('2030-01-01T12:00:00.123Z');
const AT = new Date('2030-01-01T12:10:00.456Z');

describe('what a stand-in kubelet writes', () => {
  it('is a Node with the labels that every kubelet sets', () => {
    expect(nodeObject(FACTS).metadata).toEqual({
      name: 'n1',
      labels: {
        'kubernetes.io/hostname': 'n1',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
    });
  });

  it('MAC-18 is a Node that gets no pods until the machine controller has observed the rest of its machine', () => {
    expect(nodeObject(FACTS)['spec']).toEqual({
      taints: [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }],
    });
  });

  it('reports boot, version and capacity, and whole units of memory', () => {
    expect(nodeStatus(FACTS, SINCE, AT)).toMatchObject({
      status: {
        capacity: { cpu: '4', memory: '8388608Ki', pods: '110' },
        nodeInfo: { bootID: 'boot-1', kubeletVersion: 'v1.36.3', containerRuntimeVersion: 'stand-in://1' },
      },
    });
  });

  it('is Ready since it began, and reports that nothing runs', () => {
    const { conditions } = nodeStatus(FACTS, SINCE, AT)['status'] as { conditions: unknown[] };
    expect(conditions).toHaveLength(4);
    expect(conditions.at(-1)).toEqual({
      type: 'Ready',
      status: 'True',
      reason: 'KubeletReady',
      message: 'stand-in for a kubelet: pods are reported as running, nothing runs',
      lastHeartbeatTime: '2030-01-01T12:10:00Z',
      lastTransitionTime: '2030-01-01T12:00:00Z',
    });
  });

  it('owns its Lease by the Node, so that it is deleted with it', () => {
    expect(nodeLease('n1', 'uid-1', AT)).toMatchObject({
      metadata: {
        namespace: 'kube-node-lease',
        ownerReferences: [{ kind: 'Node', name: 'n1', uid: 'uid-1' }],
      },
      spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: '2030-01-01T12:10:00.456000Z' },
    });
  });
});
