/**
 * The fact why a machine is silent, by several vantage points: its agent, its kubelet, the provider of its instance or its BMC, machines near it, and
 * the agents of its peers, which probe its kubelet.
 * It is unknown when the evidence fits several causes: no rule acts on it.
 */
import { DIAGNOSIS_CAUSES, diagnose } from '../../api/diagnosis/diagnose.ts';
import { kubeletSign, powerSign, type Sign, type SilenceEvidence } from '../../api/diagnosis/evidence.ts';
import { judgePeerAnswers } from '../../api/diagnosis/peer-answers.ts';
import { PEER_RESULTS, type PeerResult, POWER_SIGNS } from '../../api/enums.ts';
import type { PeerAnswer } from '../../api/generated/types.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import type { FactKind } from './fact.ts';
import { createEnumField, createFields, createParams, PERCENT_FIELD } from './field.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from './reading/answer.ts';
import { isChanged } from './reading/changed.ts';
import { RECORDED_CONDITION } from './reading/recorded.ts';
import type { NodeSnapshot } from './reading/snapshot.ts';

const SIGNS = ['Alive', 'Silent', 'Unknown'] as const satisfies readonly Sign[];

const fields = createFields({
  cause: createEnumField(DIAGNOSIS_CAUSES),
  confidencePercent: PERCENT_FIELD,
  power: createEnumField(POWER_SIGNS),
  peers: createEnumField(SIGNS),
  peerProbes: createEnumField(PEER_RESULTS),
});

/** The peers of a silent machine, and the Lease of an agent that was silent, change without a change of its own objects. */
const AGAIN_MS = 15_000;

const read: ReadFact = (snapshot) => {
  const problem = viewProblem(snapshot);
  if (problem !== undefined) return unknownAnswer(problem);
  const evidence = evidenceOf(snapshot);
  const { agent, kubelet, power, peers, peerProbes } = evidence;
  const found = diagnose(evidence);
  const changesInMs = agent === 'Silent' ? AGAIN_MS : silentInMs(snapshot);
  if (found) return knownAnswer(fields, { ...found, power, peers, peerProbes }, changesInMs);
  const unknown = `agent ${agent}, kubelet ${kubelet}, power ${power}, peers ${peers}, probes by peers ${peerProbes}`;
  return { ...unknownAnswer(unknown), changesInMs };
};

function viewProblem({ problems, machine }: NodeSnapshot): string | undefined {
  const problem = problems.nodes ?? problems.machines ?? problems.agentLeases ?? problems.nodeLeases;
  return problem ?? (machine ? undefined : 'the Node has no Machine');
}

function evidenceOf(snapshot: NodeSnapshot): SilenceEvidence {
  const { machine, node, agentAgeMs } = snapshot;
  const own = { agent: agentSign(agentAgeMs), kubelet: kubeletSign(node) };
  const power = machine ? powerSign(machine) : 'Unknown';
  if (!isSilent(own)) return { ...own, power, peers: 'Unknown', peerProbes: 'Unknown' };
  // Peers are chosen from the whole fleet, so only for a machine that is silent.
  return { ...own, power, peers: snapshot.peers(), peerProbes: peerProbesOf(snapshot) };
}

function peerProbesOf({ machine, find, point }: NodeSnapshot): PeerResult {
  if (!machine) return 'Unknown';
  const subject = { name: machine.metadata.name, silence: machine.status?.silence };
  const answers = (peer: string): readonly PeerAnswer[] | undefined => find('machines', peer)?.status?.peers;
  return judgePeerAnswers(subject, answers, point.at).result;
}

function isSilent({ agent, kubelet }: Pick<SilenceEvidence, 'agent' | 'kubelet'>): boolean {
  return agent === 'Silent' && kubelet === 'Silent';
}

/** Returns Unknown for an agent that was never observed: it may not be installed. */
function agentSign(ageMs: number): Sign {
  if (!Number.isFinite(ageMs)) return 'Unknown';
  return ageMs <= SILENT_MS ? 'Alive' : 'Silent';
}

function silentInMs({ agentAgeMs }: NodeSnapshot): number {
  return agentAgeMs <= SILENT_MS ? SILENT_MS - agentAgeMs + 1 : Infinity;
}

export const diagnosisFact = {
  name: 'diagnosis',
  source:
    'the Leases of the agent and of machines near it, the Node, the state of the instance or the BMC, and Machine.status.peers of its peers',
  maxAge: 'OurWatch',
  heartbeats: ['Agent'],
  params: createParams({}),
  fields,
  read,
  changes: {
    nodes: (before, after) => kubeletSign(before) !== kubeletSign(after),
    machines: (before, after) =>
      !before ||
      !after ||
      powerSign(before) !== powerSign(after) ||
      isChanged(before, after, 'status', 'silence'),
  },
  recorded: {
    nodes: { status: { conditions: RECORDED_CONDITION } },
    machines: {
      spec: { infra: { provider: true } },
      status: {
        conditions: RECORDED_CONDITION,
        infra: { state: true },
        power: { state: true },
        silence: true,
        peers: true,
      },
    },
  },
} satisfies FactKind;
