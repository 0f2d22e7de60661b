/**
 * Remembers which grants are settled until the view of the ledger shows it. The view is later than the answer: without this the next
 * reconcile would settle them again, with a write of each Machine.
 */
import type { LedgerGrant } from '../../../api/generated/types.ts';
import type { GrantSettlement } from '../../../api/grants.ts';
import type { RolloutGrants } from './permissions.ts';

type ViewedGrants = Readonly<Record<string, LedgerGrant>>;

export interface SettledGrants {
  /** The same grants, whose settlements are remembered once the ledger has answered. */
  readonly grants: RolloutGrants;
  /**
   * Returns grants whose settlements are remembered at once, and written while the set is planned again. The ledger keeps the order, so
   * that what is asked after a settlement has its room. After one that was not written, the next is waited for.
   */
  ofSet(name: string): RolloutGrants;
  /** Returns what the view shows by machine, with the settlements since. */
  current(viewed: ViewedGrants): ViewedGrants;
}

/** More than a batch has machines. What is forgotten is settled again, without effect. */
const MAX_REMEMBERED = 10_000;

/** `failed` is called with the set whose settlement was not written. */
export function createSettledGrants(
  grants: RolloutGrants,
  failed: (set: string) => void = () => undefined,
): SettledGrants {
  const settled = new Set<string>();
  const refused = new Set<string>();
  return {
    grants: withSettle(settleNow),
    ofSet: (name) =>
      withSettle(async (settlements) => {
        if (refused.has(name)) {
          await settleNow(settlements);
          refused.delete(name);
        } else {
          void settleSoon(name, settlements);
        }
      }),
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

  function remember(settlements: readonly GrantSettlement[]): void {
    if (settled.size + settlements.length > MAX_REMEMBERED) settled.clear();
    for (const { id } of settlements) settled.add(id);
  }

  async function settleNow(settlements: readonly GrantSettlement[]): Promise<void> {
    await grants.settle(settlements);
    remember(settlements);
  }

  async function settleSoon(name: string, settlements: readonly GrantSettlement[]): Promise<void> {
    remember(settlements);
    try {
      await grants.settle(settlements);
    } catch {
      // The next plan settles them again, and its failure is the reconcile's.
      for (const { id } of settlements) settled.delete(id);
      refused.add(name);
      failed(name);
    }
  }

  function withSettle(settle: RolloutGrants['settle']): RolloutGrants {
    return {
      ask: (asks) => grants.ask(asks),
      dryRun: (asks) => grants.dryRun(asks),
      renew: (renewals) => grants.renew(renewals),
      settle,
    };
  }
}
