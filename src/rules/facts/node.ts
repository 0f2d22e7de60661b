/** Properties of the node as a whole. What only the node itself can report is as old as its last sign of life. */
import { detectorConfigOf } from '../../api/diagnosis/dimensions.ts';
import type { MachineSystem } from '../../api/generated/types.ts';
import { LABEL_MACHINESET, LABEL_POOL } from '../../api/names.ts';
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { ageSecondsAt } from '../clocks/time-point.ts';
import type { FactKind } from './fact.ts';
import {
  BOOLEAN_FIELD,
  COUNT_FIELD,
  createFields,
  createParams,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from './reading/answer.ts';
import { isChanged } from './reading/changed.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';

const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'topology.kubernetes.io/rack';
const GPU = 'nvidia.com/gpu';

const fields = createFields({
  uptimeSeconds: SECONDS_FIELD,
  ageSeconds: SECONDS_FIELD,
  pool: TEXT_FIELD,
  zone: TEXT_FIELD,
  rack: TEXT_FIELD,
  arch: TEXT_FIELD,
  kernelVersion: TEXT_FIELD,
  osImage: TEXT_FIELD,
  kubeletVersion: TEXT_FIELD,
  driverVersion: TEXT_FIELD,
  driverReadySeconds: SECONDS_FIELD,
  gpuAllocatable: COUNT_FIELD,
  detectorVersion: TEXT_FIELD,
  detectorConfig: TEXT_FIELD,
  unschedulable: BOOLEAN_FIELD,
});

const read: ReadFact = (snapshot, _, maxAgeMs) => {
  const { problems, agentAgeMs, kubeletAgeMs, machine, node } = snapshot;
  const problem = problems.nodes ?? problems.machines;
  if (problem !== undefined) return unknownAnswer(problem);
  if (!machine && !node) return unknownAnswer('there is neither a Node nor a Machine');
  const leftMs = maxAgeMs - Math.min(agentAgeMs, kubeletAgeMs);
  const values = { ...declared(snapshot), ...(leftMs >= 0 && reported(snapshot)) };
  return knownAnswer(fields, values, leftMs >= 0 ? leftMs : Infinity);
};

type Values = Readonly<Record<string, unknown>>;

/** Written by the control plane: a dead node keeps them. */
function declared({ machine, node, point }: NodeSnapshot): Values {
  const labels = { ...machine?.metadata.labels, ...node?.metadata.labels };
  const created = node?.metadata.creationTimestamp;
  return {
    pool: labels[LABEL_POOL] ?? labels[LABEL_MACHINESET],
    zone: labels[ZONE],
    rack: labels[RACK],
    ageSeconds: ageSecondsAt(point, created),
    unschedulable: node ? valueAt(node, 'spec', 'unschedulable') === true : undefined,
  };
}

function reported({ machine, node, point }: NodeSnapshot): Values {
  const status = machine?.status;
  const { system, facts, agent } = status ?? {};
  const gpus = textAt(node, 'status', 'allocatable', GPU);
  return {
    ...versions(node, system),
    uptimeSeconds: ageSecondsAt(point, facts?.bootedAt),
    driverVersion: system?.gpuDriver,
    driverReadySeconds: ageSecondsAt(point, system?.gpuReadyAt),
    gpuAllocatable: gpus === undefined ? undefined : Number(gpus),
    // The problem detector is a part of the agent.
    detectorVersion: agent?.version,
    detectorConfig: detectorConfigOf(status),
  };
}

function versions(node: KubeObject | undefined, system: MachineSystem | undefined): Values {
  const info = valueAt(node, 'status', 'nodeInfo');
  return {
    arch: textAt(info, 'architecture') ?? system?.arch,
    kernelVersion: textAt(info, 'kernelVersion') ?? system?.kernel,
    osImage: textAt(info, 'osImage') ?? system?.osImage,
    kubeletVersion: textAt(info, 'kubeletVersion'),
  };
}

const NODE_PARTS = [
  ['metadata', 'labels'],
  ['spec', 'unschedulable'],
  ['status', 'nodeInfo'],
  ['status', 'allocatable'],
];
const MACHINE_PARTS = [
  ['metadata', 'labels'],
  ['status', 'system'],
  ['status', 'agent'],
  ['status', 'facts', 'bootedAt'],
  ['status', 'facts', 'detectorConfig'],
];

export const nodeFact = {
  name: 'node',
  source: 'the Node and the Machine',
  maxAge: { seconds: 660 },
  heartbeats: ['Agent', 'Kubelet'],
  params: createParams({}),
  fields,
  read,
  changes: {
    nodes: (before, after) => NODE_PARTS.some((path) => isChanged(before, after, ...path)),
    machines: (before, after) => MACHINE_PARTS.some((path) => isChanged(before, after, ...path)),
  },
  recorded: {
    nodes: {
      spec: { unschedulable: true },
      status: {
        nodeInfo: { architecture: true, kernelVersion: true, osImage: true, kubeletVersion: true },
        allocatable: { [GPU]: true },
      },
    },
    machines: {
      status: { agent: { version: true }, system: true, facts: { bootedAt: true, detectorConfig: true } },
    },
  },
} satisfies FactKind;
