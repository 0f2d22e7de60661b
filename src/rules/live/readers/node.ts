/** Reads properties of the node. What only the node itself can report is as old as its last sign of life. */
import type { MachineSystem } from '../../../api/generated/types.ts';
import { LABEL_MACHINESET, LABEL_POOL } from '../../../api/names.ts';
import { textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { ageSecondsAt } from '../../clocks/time-point.ts';
import { nodeFact } from '../../facts/node.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from '../../facts/reading/answer.ts';
import type { NodeSnapshot } from '../../facts/reading/snapshot.ts';

const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'topology.kubernetes.io/rack';
const GPU = 'nvidia.com/gpu';

export const readNode: ReadFact = (snapshot, _, maxAgeMs) => {
  const { problems, agentAgeMs, kubeletAgeMs, machine, node } = snapshot;
  const problem = problems.nodes ?? problems.machines;
  if (problem !== undefined) return unknownAnswer(problem);
  if (!machine && !node) return unknownAnswer('there is neither a Node nor a Machine');
  const leftMs = maxAgeMs - Math.min(agentAgeMs, kubeletAgeMs);
  const values = { ...declared(snapshot), ...(leftMs >= 0 && reported(snapshot)) };
  return knownAnswer(nodeFact, values, leftMs >= 0 ? leftMs : Infinity);
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
  const { system, facts, agent } = machine?.status ?? {};
  const gpus = textAt(node, 'status', 'allocatable', GPU);
  return {
    ...versions(node, system),
    uptimeSeconds: ageSecondsAt(point, facts?.bootedAt),
    driverVersion: system?.gpuDriver,
    driverReadySeconds: ageSecondsAt(point, system?.gpuReadyAt),
    gpuAllocatable: gpus === undefined ? undefined : Number(gpus),
    // The problem detector is a part of the agent.
    detectorVersion: agent?.version,
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
