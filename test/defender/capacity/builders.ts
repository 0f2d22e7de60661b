/** Nodes of 4 CPUs and 8 GiB, and Pods that request a part of one. */
import { type Capacity, createCapacityIndex } from '../../../src/defender/capacity/index-of-nodes.ts';
import { capacityNode } from '../../../src/defender/capacity/node.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { Labels } from '../../../src/kube/objects/selector.ts';

export interface NodeFields {
  readonly labels?: Labels;
  readonly spec?: object;
  readonly ready?: string;
  readonly allocatable?: object | undefined;
}

export function nodeOf(name: string, fields: NodeFields = {}): KubeObject {
  const { labels = {}, spec = {}, ready = 'True' } = fields;
  const usual = { cpu: '4', memory: '8Gi', pods: '110' };
  const allocatable = 'allocatable' in fields ? fields.allocatable : usual;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { ...(allocatable ? { allocatable } : {}), conditions: [{ type: 'Ready', status: ready }] },
  };
}

export function podOf(name: string, nodeName: string, requests: object, more: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'web', name, labels: { app: name.split('-')[0] ?? name } },
    spec: { nodeName, containers: [{ name: 'main', resources: { requests } }], ...more },
  };
}

export function capacityOf(nodes: readonly KubeObject[], pods: readonly KubeObject[]): Capacity {
  const index = createCapacityIndex();
  for (const pod of pods) index.putPod(capacityPod(pod));
  for (const node of nodes) index.putNode(capacityNode(node));
  return index;
}
