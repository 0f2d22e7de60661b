/** One drain in a large cluster: whether its Pods fit elsewhere, and how much stays free. */
import { createCapacityIndex } from '../src/defender/capacity/index-of-nodes.ts';
import { capacityNode } from '../src/defender/capacity/node.ts';
import { planPlacement } from '../src/defender/capacity/place.ts';
import { capacityPod } from '../src/defender/capacity/pod.ts';
import { reserveAfter } from '../src/defender/capacity/reserve.ts';
import type { KubeObject } from '../src/kube/objects/object.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import type { Bench, BenchResult } from './bench.ts';

const NODES = 10_000;
const PODS_PER_NODE = 10;
const HOSTNAME = 'kubernetes.io/hostname';

export const bench: Bench = {
  name: 'capacity',
  what: `one drain of ${PODS_PER_NODE} Pods among ${NODES} nodes and ${NODES * PODS_PER_NODE} Pods`,
  run: () => Promise.resolve(run()),
};

function run(): BenchResult {
  const clock = createSystemClock();
  const began = clock.monotonicMs();
  const capacity = createCapacityIndex();
  for (let node = 0; node < NODES; node += 1) {
    capacity.putNode(capacityNode(nodeOf(node)));
    for (let pod = 0; pod < PODS_PER_NODE; pod += 1) capacity.putPod(capacityPod(podOf(node, pod)));
  }
  const indexedMs = clock.monotonicMs() - began;
  // The objects that the index was made of are not part of a drain.
  globalThis.gc?.();
  const indexed = clock.monotonicMs();
  // The nodes are full but for the last one: for each Pod all of them are read.
  const input = { capacity, node: 'n-0', inWork: [] };
  const { nowhere } = planPlacement(input);
  const placed = clock.monotonicMs();
  reserveAfter(input);
  const reserved = clock.monotonicMs();
  return {
    measured: {
      indexMs: indexedMs,
      placeMs: placed - indexed,
      reserveMs: reserved - placed,
      misfits: nowhere.length,
    },
    baseline: {},
    ratios: {},
    gates: [{ what: 'ms for one drain', value: reserved - indexed, atMost: 200 }],
  };
}

function nodeOf(index: number): KubeObject {
  const name = `n-${index}`;
  const cpu = index === NODES - 1 ? '100' : '10';
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [HOSTNAME]: name } },
    status: {
      allocatable: { cpu, memory: '64Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

/** One Pod of each node keeps those of its app apart, and one is spread. */
function podOf(node: number, index: number): KubeObject {
  const labelSelector = { matchLabels: { app: `app-${index}` } };
  const term = { labelSelector, topologyKey: HOSTNAME };
  const requests = { cpu: '1', memory: '1Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: `ns-${node % 100}`,
      name: `p-${node}-${index}`,
      labels: labelSelector.matchLabels,
    },
    spec: {
      nodeName: `n-${node}`,
      containers: [{ name: 'main', resources: { requests } }],
      ...(index === 1
        ? { topologySpreadConstraints: [{ ...term, maxSkew: 5, whenUnsatisfiable: 'DoNotSchedule' }] }
        : {}),
      ...(index === 0 && node % 100 === 0
        ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
        : {}),
    },
  };
}
