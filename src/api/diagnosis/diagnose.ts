/**
 * Diagnoses why a machine is silent, from several vantage points. Nothing is concluded from what is unknown, and a machine whose neighbors
 * are silent, too, is not the cause: a network that is cut must not look like dead machines. Pure.
 */
import type { SilenceEvidence } from './evidence.ts';

export const DIAGNOSIS_CAUSES = [
  /** The agent and the kubelet report: the machine is not silent. */
  'none',
  'agent-only',
  'kubelet-only',
  /** Its neighbors are silent, too. */
  'network',
  'power-off',
  /** It has power, nothing on it reports, and its neighbors do. */
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
export function diagnose({ agent, kubelet, power, peers }: SilenceEvidence): Diagnosis | undefined {
  if (agent === 'Unknown' || kubelet === 'Unknown') return undefined;
  if (agent === 'Alive') return certain(kubelet === 'Alive' ? 'none' : 'kubelet-only');
  if (kubelet === 'Alive') return certain('agent-only');
  return diagnoseSilent({ power, peers });
}

function diagnoseSilent({ power, peers }: Pick<SilenceEvidence, 'power' | 'peers'>): Diagnosis | undefined {
  if (power === 'Off') return certain('power-off');
  if (peers === 'Unknown') return undefined;
  if (peers === 'Silent') return { cause: 'network', confidencePercent: CONCLUDED };
  if (power === 'On') return { cause: 'host-hang', confidencePercent: CONCLUDED };
  return { cause: 'unreachable', confidencePercent: WITHOUT_POWER };
}

function certain(cause: DiagnosisCause): Diagnosis {
  return { cause, confidencePercent: READ };
}
