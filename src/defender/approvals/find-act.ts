/** Which act a person answers: the one that is named, or the only one on the machine that waits. Pure. */
import type { LedgerPendingApproval } from '../../api/generated/types.ts';
import { type Action, defaultRisk } from '../../api/steps/steps.ts';
import { type ApprovableAct, describeAct } from './plan.ts';

export interface NamedAct {
  readonly machine: string;
  readonly action?: Action;
  readonly holder?: ApprovableAct['holder'];
  readonly risk?: ApprovableAct['risk'];
}

export type FoundAct =
  | { readonly act: ApprovableAct }
  | { readonly reason: 'NothingWaits' | 'SeveralWait'; readonly message: string };

export function findAct(pending: readonly LedgerPendingApproval[], named: NamedAct): FoundAct {
  const { machine, action, holder, risk } = named;
  const matching = pending.filter((act) => isNamed(act, named));
  const [first, ...others] = matching;
  if (first && others.length === 0) return { act: { ...first, ...(risk ? { risk } : {}) } };
  if (action && holder) return { act: { machine, action, holder, risk: risk ?? defaultRisk(action) } };
  if (!first) {
    return { reason: 'NothingWaits', message: `no act on machine ${machine} waits for an approval` };
  }
  const message = `several acts wait for an approval: ${matching.map(describeAct).join('; ')}`;
  return { reason: 'SeveralWait', message };
}

function isNamed(act: LedgerPendingApproval, { machine, action, holder }: NamedAct): boolean {
  return (
    act.machine === machine &&
    (action === undefined || act.action === action) &&
    (holder === undefined || (act.holder.kind === holder.kind && act.holder.name === holder.name))
  );
}
