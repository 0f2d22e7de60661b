/** One drain in a large cluster, decided by all guards: whether its Pods fit elsewhere, and how much stays free. */

import { type CapacityIndex, createCapacityIndex } from '../src/defender/capacity/index-of-nodes.ts';
import { capacityNode } from '../src/defender/capacity/node.ts';
import { capacityPod } from '../src/defender/capacity/pod.ts';
import { type Decision, decideAsk } from '../src/defender/decide.ts';
import { createLedgerUsage } from '../src/defender/ledger/usage.ts';
import { preparePolicies } from '../src/defender/policies/prepare.ts';
import type { KubeObject } from '../src/kube/objects/object.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { ask, entry, fleetFacts, ledgerSpec, machines, NOW, policy } from '../test/defender/builders.ts';
import type { Bench, BenchResult } from './bench.ts';

const NODES = 10_000;
const PODS_PER_NODE = 10;
const IN_WORK = 500;
const SPARE = `m-${NODES}`;
const HOSTNAME = 'kubernetes.io/hostname';

export const bench: Bench = {
  name: 'capacity',
  what: `one drain of ${PODS_PER_NODE} Pods among ${NODES} nodes and ${NODES * PODS_PER_NODE} Pods`,
  needsKubenodeFlags: true,
  run: () => Promise.resolve(run()),
};

function run(): BenchResult {
  const clock = createSystemClock();
  const began = clock.monotonicMs();
  const capacity = filledIndex();
  const indexMs = clock.monotonicMs() - began;
  const drain = drainIn(capacity);
  // The objects that the index was made of are not part of a drain.
  globalThis.gc?.();
  const timed = (expected: boolean, inWork = 0): number => {
    const decide = drain(inWork);
    const start = clock.monotonicMs();
    const { permitted } = decide();
    const ms = clock.monotonicMs() - start;
    if (permitted !== expected) throw new Error(`the drain was ${permitted ? 'granted' : 'denied'}`);
    return ms;
  };
  const firstMs = timed(true);
  const nextMs = Math.min(...Array.from({ length: 10 }, () => timed(true)));
  const inWorkMs = timed(false, IN_WORK);
  capacity.removeNode(SPARE);
  const deniedMs = timed(false);
  return {
    measured: { indexMs, firstMs, nextMs, deniedMs, inWorkMs },
    baseline: {},
    ratios: {},
    gates: [
      { what: 'ms for the first drain, which is granted', value: firstMs, atMost: 100 },
      { what: 'ms for a drain that is denied', value: deniedMs, atMost: 100 },
    ],
    setting: { nodes: NODES, pods: NODES * PODS_PER_NODE, inWork: IN_WORK },
  };
}

function filledIndex(): CapacityIndex {
  const capacity = createCapacityIndex();
  for (let node = 1; node <= NODES; node += 1) {
    capacity.putNode(capacityNode(nodeOf(node)));
    for (let pod = 0; pod < PODS_PER_NODE; pod += 1) capacity.putPod(capacityPod(podOf(node, pod)));
  }
  return capacity;
}

/** Prepares the decision of the drain of the first node while the nodes after it are drained. */
function drainIn(capacity: CapacityIndex): (inWork: number) => () => Decision {
  const spec = { simulateScheduling: true, minFreePercent: { cpu: 0, memory: 0 }, replacementFirst: false };
  const all = [policy({ capacity: spec })];
  const facts = fleetFacts(machines(NODES), all, { capacity });
  const policies = preparePolicies(all);
  return (inWork) => {
    const names = Array.from({ length: inWork }, (_, index) => `m-${index + 2}`);
    const ledger = ledgerSpec({ grants: Object.fromEntries(names.map((name) => [name, entry(name)])) });
    const state = { policies, ledger, facts, now: NOW };
    const usage = createLedgerUsage(state);
    return () => decideAsk({ ...state, usage }, ask());
  };
}

/** All are full but for the last one: the Pods find their place there, after all others were tried. */
function nodeOf(index: number): KubeObject {
  const name = `m-${index}`;
  const cpu = name === SPARE ? '100' : '10';
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
      nodeName: `m-${node}`,
      containers: [{ name: 'main', resources: { requests } }],
      ...(index === 1
        ? { topologySpreadConstraints: [{ ...term, maxSkew: 5, whenUnsatisfiable: 'DoNotSchedule' }] }
        : {}),
      ...(index === 0
        ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
        : {}),
    },
  };
}
