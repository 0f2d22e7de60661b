import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { summarizeWorkload } from '../../../../src/rules/facts/reading/workload.ts';

interface PodParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly volumes?: readonly unknown[];
  readonly phase?: string;
  readonly owner?: 'DaemonSet' | 'Node';
}

function pod({ labels, annotations, volumes = [], phase = 'Running', owner }: PodParts = {}): KubeObject {
  const apiVersion = owner === 'Node' ? 'v1' : 'apps/v1';
  const ownerReferences = owner ? [{ apiVersion, kind: owner, name: 'o', uid: 'u', controller: true }] : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'shop', ownerReferences, labels, annotations },
    spec: { volumes },
    status: { phase },
  } as KubeObject;
}

const SAFE = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';
const EMPTY_DIR = { name: 'cache', emptyDir: {} };
const CLAIM = { name: 'data', persistentVolumeClaim: { claimName: 'c' } };
const BLOCK = { 'kubenode.dev/block': 'true' };
const GANG = { 'scheduling.x-k8s.io/pod-group': 'g' };
const QUIET = { gangPresent: false, localData: false, blockers: 0 };

const ROWS: readonly [string, readonly KubeObject[], object][] = [
  ['an empty node', [], QUIET],
  ['a Pod of no group, without volumes', [pod()], QUIET],
  ['a Pod of a group', [pod({ labels: GANG })], { ...QUIET, gangPresent: true }],
  [
    'a Pod of a group of Volcano',
    [pod({ annotations: { 'scheduling.k8s.io/group-name': 'g' } })],
    { ...QUIET, gangPresent: true },
  ],
  ['a Pod of a group that has ended', [pod({ labels: GANG, phase: 'Succeeded' })], QUIET],
  ['a directory on the disk of the node', [pod({ volumes: [EMPTY_DIR] })], { ...QUIET, localData: true }],
  [
    'a directory of the host',
    [pod({ volumes: [{ name: 'h', hostPath: {} }] })],
    { ...QUIET, localData: true },
  ],
  ['a directory in memory', [pod({ volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }] })], QUIET],
  [
    'a directory that may be lost',
    [pod({ volumes: [EMPTY_DIR], annotations: { [SAFE]: 'other, cache' } })],
    QUIET,
  ],
  [
    'a second directory, which is not listed',
    [pod({ volumes: [EMPTY_DIR, { name: 'b', emptyDir: {} }], annotations: { [SAFE]: 'cache' } })],
    { ...QUIET, localData: true },
  ],
  ['a claim, which may be local', [pod({ volumes: [CLAIM] })], { gangPresent: false, blockers: 0 }],
  [
    'an ephemeral claim',
    [pod({ volumes: [{ name: 'e', ephemeral: {} }] })],
    { gangPresent: false, blockers: 0 },
  ],
  [
    'a claim beside a directory of another Pod',
    [pod({ volumes: [CLAIM] }), pod({ volumes: [EMPTY_DIR] })],
    { ...QUIET, localData: true },
  ],
  ['data of a DaemonSet', [pod({ volumes: [EMPTY_DIR], labels: GANG, owner: 'DaemonSet' })], QUIET],
  ['data of a static Pod', [pod({ volumes: [{ name: 'h', hostPath: {} }], owner: 'Node' })], QUIET],
  [
    'two Pods that block, one of them of a DaemonSet',
    [pod({ labels: BLOCK }), pod({ labels: BLOCK, owner: 'DaemonSet' })],
    { ...QUIET, blockers: 2 },
  ],
  [
    'Pods that block no more, or were never asked to',
    [pod({ labels: BLOCK, phase: 'Failed' }), pod({ labels: { 'kubenode.dev/block': 'false' } })],
    QUIET,
  ],
  ['volumes of a strange form', [pod({ volumes: [null, 'a', {}] })], QUIET],
];

describe('summarizeWorkload', () => {
  it.each(ROWS)('R33 summarizes what a repair would disturb: %s', (_, pods, expected) => {
    expect(summarizeWorkload(pods)).toEqual(expected);
  });
});
