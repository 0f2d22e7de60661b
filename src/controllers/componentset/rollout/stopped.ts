/** Limits at which nothing else begins until a person acts. Pure. */
import type { Reason } from '../../../api/names.ts';
import type { Explanation } from '../../../rollout/explanation.ts';

const STOPPED: ReadonlySet<string> = new Set<Reason>([
  'ApprovalRequired',
  'BatchUnproven',
  'FailureBudgetSpent',
  'GateFailed',
  'GateInconclusive',
  'GateLoosened',
  'HealthUnknown',
  'HeldByPartition',
  'NothingProven',
  'Paused',
  'RollbackImpossible',
  'RolledBack',
]);

export function isStopped({ reason }: Explanation): boolean {
  return STOPPED.has(reason);
}
