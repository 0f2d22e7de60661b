/** Which acts a policy, a limit or a breaker is for. Pure. */
import type { Risk } from '../../api/enums.ts';
import type { LedgerHolder } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { isListed } from '../ledger/entries.ts';
import type { PreparedPolicy } from './prepare.ts';

export interface Act {
  readonly action: string;
  readonly risk: Risk;
  readonly holder: Pick<LedgerHolder, 'kind'>;
}

interface ActFilter {
  readonly actions?: readonly string[];
  readonly risks?: readonly Risk[];
  readonly holders?: readonly LedgerHolder['kind'][];
}

export function isActOf({ actions, risks, holders }: ActFilter, { action, risk, holder }: Act): boolean {
  return isListed(actions, action) && isListed(risks, risk) && isListed(holders, holder.kind);
}

export function appliesTo({ spec: { scope } }: PreparedPolicy, act: Act, machine: MachineFacts): boolean {
  return isSelected(scope.nodeSelector, machine.labels) && isActOf(scope, act);
}
