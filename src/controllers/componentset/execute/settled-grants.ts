/**
 * Remembers which grants the ledger has settled until the view of the ledger shows it. The view is later than the answer: without this
 * the next reconcile would settle them again, with a write of each Machine.
 */
import type { LedgerGrant } from '../../../api/generated/types.ts';
import type { RolloutGrants } from './permissions.ts';

type ViewedGrants = Readonly<Record<string, LedgerGrant>>;

export interface SettledGrants {
  /** The same grants, whose settlements are remembered. */
  readonly grants: RolloutGrants;
  /** Returns what the view shows by machine, with the settlements since. */
  current(viewed: ViewedGrants): ViewedGrants;
}

/** More than a batch has machines. What is forgotten is settled again, without effect. */
const MAX_REMEMBERED = 10_000;

export function createSettledGrants(grants: RolloutGrants): SettledGrants {
  const settled = new Set<string>();
  return {
    grants: {
      ask: (asks) => grants.ask(asks),
      dryRun: (asks) => grants.dryRun(asks),
      renew: (renewals) => grants.renew(renewals),
      async settle(settlements) {
        await grants.settle(settlements);
        if (settled.size + settlements.length > MAX_REMEMBERED) settled.clear();
        for (const { id } of settlements) settled.add(id);
      },
    },
    current(viewed) {
      if (settled.size === 0) return viewed;
      const open: [string, LedgerGrant][] = [];
      for (const [machine, grant] of Object.entries(viewed)) {
        if (grant.state === 'Settled') settled.delete(grant.id);
        else if (settled.has(grant.id)) open.push([machine, { ...grant, state: 'Settled' }]);
      }
      return open.length > 0 ? { ...viewed, ...Object.fromEntries(open) } : viewed;
    },
  };
}
