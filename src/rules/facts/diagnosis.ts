/**
 * The fact why a machine is silent, by several vantage points: its agent, its kubelet, the provider of its instance, and machines near it.
 * What cannot be told apart is unknown: no rule acts on it.
 */
import { DIAGNOSIS_CAUSES, diagnose } from '../../api/diagnosis/diagnose.ts';
import { kubeletSign, POWER_SIGNS, powerSign, type Sign } from '../../api/diagnosis/evidence.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import type { FactKind } from './fact.ts';
import { createEnumField, createFields, createParams, PERCENT_FIELD } from './field.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from './reading/answer.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';
import { RECORDED_CONDITION } from './recorded.ts';

const SIGNS = ['Alive', 'Silent', 'Unknown'] as const satisfies readonly Sign[];

const fields = createFields({
  cause: createEnumField(DIAGNOSIS_CAUSES),
  confidencePercent: PERCENT_FIELD,
  power: createEnumField(POWER_SIGNS),
  peers: createEnumField(SIGNS),
});

/** The peers of a silent machine change without a change of its own objects. */
const PEERS_AGAIN_MS = 15_000;

const read: ReadFact = (snapshot) => {
  const { problems, machine, node, agentAgeMs } = snapshot;
  const problem = problems.nodes ?? problems.machines ?? problems.agentLeases ?? problems.nodeLeases;
  if (problem !== undefined) return unknownAnswer(problem);
  if (!machine) return unknownAnswer('there is no Machine');
  const agent = agentSign(agentAgeMs);
  const kubelet = kubeletSign(node);
  const isSilent = agent === 'Silent' && kubelet === 'Silent';
  // They are chosen from the whole fleet: only for a machine that is silent.
  const peers = isSilent ? snapshot.peers() : 'Unknown';
  const power = powerSign(machine);
  const found = diagnose({ agent, kubelet, power, peers });
  const changesInMs = isSilent ? PEERS_AGAIN_MS : silentInMs(snapshot);
  if (!found) {
    return {
      ...unknownAnswer(`agent ${agent}, kubelet ${kubelet}, power ${power}, peers ${peers}`),
      changesInMs,
    };
  }
  return knownAnswer(fields, { ...found, power, peers }, changesInMs);
};

/** An agent that was never heard of may not be installed. */
function agentSign(ageMs: number): Sign {
  if (!Number.isFinite(ageMs)) return 'Unknown';
  return ageMs <= SILENT_MS ? 'Alive' : 'Silent';
}

function silentInMs({ agentAgeMs }: NodeSnapshot): number {
  return agentAgeMs <= SILENT_MS ? SILENT_MS - agentAgeMs + 1 : Infinity;
}

export const diagnosisFact = {
  name: 'diagnosis',
  source: 'the Leases of the agent and of machines near it, the Node, and the state of the instance',
  maxAge: 'OurWatch',
  heartbeats: [],
  params: createParams({}),
  fields,
  read,
  changes: {
    nodes: (before, after) => kubeletSign(before) !== kubeletSign(after),
    machines: (before, after) => !before || !after || powerSign(before) !== powerSign(after),
  },
  recorded: {
    nodes: { status: { conditions: RECORDED_CONDITION } },
    machines: {
      spec: { infra: { provider: true } },
      status: { conditions: RECORDED_CONDITION, infra: { state: true } },
    },
  },
} satisfies FactKind;
