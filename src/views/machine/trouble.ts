/** Finds the first thing that keeps a machine from being Ready, in the words of its status. Pure. */
import type { Machine, Wait } from '../../api/generated/types.ts';
import { CONDITIONS, type ConditionType } from '../../api/names.ts';
import { type Condition, conditionOf } from '../../kube/objects/conditions.ts';

export type Trouble = Pick<Wait, 'reason' | 'blocker' | 'message'> & { readonly since?: string };

/** The conditions in the order in which a person looks: what needs somebody, then what is missing to be Ready. */
const ORDER: readonly ConditionType[] = [
  'Stalled',
  'NeedsPerson',
  'InfraConfigValid',
  'InfraReady',
  'HostTrusted',
  'PreflightPassed',
  'AgentInstalled',
  'CertificateIssued',
  'AgentReady',
  'NodeReady',
  'ComponentsReady',
  'NodeSynced',
  'UpToDate',
  'Held',
  'Ready',
  'GatesStable',
  'DriftDetected',
];

const NOT_OBSERVED: Trouble = {
  reason: 'NotObserved',
  message: 'no controller has observed it: check that kubenode controllers runs',
};

export function machineTrouble({ status }: Machine): Trouble | undefined {
  if (!status) return NOT_OBSERVED;
  if (status.waiting) return status.waiting;
  const found = ORDER.map((type) => conditionOf(status.conditions, type)).find(isTrouble);
  return found && { reason: found.reason, message: found.message, since: found.lastTransitionTime };
}

/**
 * Tells whether a condition is trouble. Drift that was corrected is not: it needs no person and keeps no machine from being Ready, and its
 * condition is a record.
 */
function isTrouble(condition: Condition | undefined): condition is Condition {
  return isBad(condition) && condition.reason !== 'Corrected';
}

/** Tells whether a condition is bad. One that was not set yet is not bad by itself: Ready is missing or Unknown then. */
export function isBad(condition: Condition | undefined): condition is Condition {
  if (!condition) return false;
  const good = CONDITIONS[condition.type as ConditionType] === '-' ? 'False' : 'True';
  return condition.status !== good;
}
