/**
 * Diagnoses why a machine is silent, from several vantage points. Nothing is concluded from what is unknown, and a machine whose neighbors
 * are silent, too, is not the cause: a network that is cut must not look like dead machines. Pure.
 */
import type { SilenceEvidence } from './evidence.ts';
import { isReached } from './peer-answers.ts';

export const DIAGNOSIS_CAUSES = [
  /** The agent and the kubelet report: the machine is not silent. */
  'none',
  'agent-only',
  'kubelet-only',
  /** Its neighbors are silent, too, or its kubelet answers its peers: the way to the API server is cut. */
  'network',
  'power-off',
  /** It has power, or its kernel refuses connections to the kubelet; nothing on it reports, and its neighbors do. */
  'host-hang',
  /** Nothing on it reports, its neighbors do, and its power is unknown: it hangs, is off, or its own link is cut. */
  'unreachable',
] as const;
export type DiagnosisCause = (typeof DIAGNOSIS_CAUSES)[number];

export interface Diagnosis {
  readonly cause: DiagnosisCause;
  readonly confidencePercent: number;
}

/** The percentage of what was read directly. */
const READ = 95;
/** The link of the machine itself may be cut, which no other machine can tell. */
const CONCLUDED = 80;
const WITHOUT_POWER = 60;

/** Returns undefined while the cause is unknown. */
export function diagnose(evidence: SilenceEvidence): Diagnosis | undefined {
  const { agent, kubelet } = evidence;
  if (agent === 'Unknown' || kubelet === 'Unknown') return undefined;
  if (agent === 'Alive') return certain(kubelet === 'Alive' ? 'none' : 'kubelet-only');
  if (kubelet === 'Alive') return certain('agent-only');
  return isReached(evidence.peerProbes) ? diagnoseReached(evidence) : diagnoseSilent(evidence);
}

/**
 * A port that accepts connections while nothing answers is a kernel that lives, with a kubelet that hangs or one that is slow: unknown. So is a
 * host that answers though its power is off: the power is that of another one.
 */
function diagnoseReached({ power, peers, peerProbes }: SilenceEvidence): Diagnosis | undefined {
  if (power === 'Off') return undefined;
  const isCut = peers === 'Silent' || peerProbes === 'KubeletAnswers';
  return isCut ? { cause: 'network', confidencePercent: CONCLUDED } : undefined;
}

function diagnoseSilent({ power, peers, peerProbes }: SilenceEvidence): Diagnosis | undefined {
  if (power === 'Off') return certain('power-off');
  if (peers === 'Unknown') return undefined;
  if (peers === 'Silent') return { cause: 'network', confidencePercent: CONCLUDED };
  // A kernel that refuses connections has power.
  if (power === 'On' || peerProbes === 'Refused') return { cause: 'host-hang', confidencePercent: CONCLUDED };
  return { cause: 'unreachable', confidencePercent: peerProbes === 'NoAnswer' ? CONCLUDED : WITHOUT_POWER };
}

function certain(cause: DiagnosisCause): Diagnosis {
  return { cause, confidencePercent: READ };
}
