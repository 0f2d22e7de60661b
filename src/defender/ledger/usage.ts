/**
 * How much of each concurrency limit the ledger uses: acts in flight, settled ones that linger, and machines that were
 * deleted and not replaced. Built once for a ledger; each grant of the same batch is added. Pure.
 */
import type { DefenderLedgerSpec, LedgerGone, LedgerGrant } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { FleetFacts, MachineFacts } from '../facts/facts.ts';
import { groupKey } from '../facts/grouping.ts';
import { isActOf } from '../policies/matches.ts';
import type { PreparedLimit, PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';
import { holderKey, isInFlight, isLapsed, isLingering, takesNodeDown } from './entries.ts';

export interface LimitUse {
  /** In flight, lingering, or deleted and not replaced. */
  readonly taken: number;
  /** Those of them that no count of the facts includes. */
  readonly uncounted: number;
  /** Machines that were deleted and not replaced: they belong to the size of the group. */
  readonly deleted: number;
}

export interface LedgerUsage {
  of(limit: PreparedLimit, key: string): LimitUse;
  add(machine: string, entry: LedgerGrant): void;
}

export interface UsageInput {
  readonly policies: PreparedPolicies;
  readonly ledger: Pick<DefenderLedgerSpec, 'grants' | 'gone'>;
  readonly facts: Pick<FleetFacts, 'machine' | 'statesOf'>;
  readonly now: Date;
}

const UNUSED: LimitUse = { taken: 0, uncounted: 0, deleted: 0 };
const DELETED: LimitUse = { taken: 1, uncounted: 1, deleted: 1 };

export function createLedgerUsage({ policies, ledger, facts, now }: UsageInput): LedgerUsage {
  const uses = new Map<PreparedLimit, Map<string, LimitUse>>();
  for (const [machine, entry] of Object.entries(ledger.grants)) {
    if (!isLapsed(entry, now)) add(machine, entry);
  }
  for (const [machine, entry] of Object.entries(ledger.gone)) addDeleted(machine, entry);

  return { of: (limit, key) => uses.get(limit)?.get(key) ?? UNUSED, add };

  function add(machine: string, entry: LedgerGrant): void {
    const known = facts.machine(machine);
    const states = known?.established ? facts.statesOf(known) : 0;
    for (const policy of policies.valid.filter(
      (each) => isCountedBy(each, entry, now) && isInScope(each, known),
    )) {
      const isCounted = (states & policy.countedStates) !== 0 || !policy.countsInFlight;
      for (const limit of policy.limits.filter((each) => isLimited(policy, each, entry))) {
        change(limit, keyOf(limit, entry, known), { taken: 1, uncounted: isCounted ? 0 : 1, deleted: 0 });
      }
    }
  }

  function addDeleted(machine: string, entry: LedgerGone): void {
    // The machine is back under its name.
    if (facts.machine(machine)?.established) return;
    const grant = ledger.grants[machine];
    // The ledger keeps no labels of deleted machines, so limits per label do not count them.
    const keyed = { ...entry, labels: {} };
    const counting = policies.valid.filter(({ countsDeleted }) => countsDeleted);
    for (const policy of counting) {
      // One machine counts once: the act that deleted it counts it already.
      const isPresent = grant !== undefined && isCountedBy(policy, grant, now);
      const limits = isPresent
        ? policy.limits.filter((each) => !isLimited(policy, each, grant))
        : policy.limits;
      for (const limit of limits) countDeleted(limit, keyed);
    }
  }

  function countDeleted(limit: PreparedLimit, machine: Parameters<typeof groupKey>[1]): void {
    const { grouping } = limit;
    if (grouping && grouping.per !== 'Label') change(limit, groupKey(grouping, machine), DELETED);
  }

  function change(limit: PreparedLimit, key: string, by: LimitUse): void {
    const keys = uses.get(limit) ?? new Map<string, LimitUse>();
    const { taken, uncounted, deleted } = keys.get(key) ?? UNUSED;
    keys.set(key, {
      taken: taken + by.taken,
      uncounted: uncounted + by.uncounted,
      deleted: deleted + by.deleted,
    });
    uses.set(limit, keys);
  }
}

function isCountedBy({ spec }: PreparedPolicy, entry: LedgerGrant, now: Date): boolean {
  return isInFlight(entry) || isLingering(entry, spec.counting.lingerSeconds, now);
}

/** A machine that is not known counts in every policy: nothing shows that it was not selected. */
function isInScope({ spec }: PreparedPolicy, machine: MachineFacts | undefined): boolean {
  return machine === undefined || isSelected(spec.scope.nodeSelector, machine.labels);
}

function isLimited(policy: PreparedPolicy, { limit, grouping }: PreparedLimit, entry: LedgerGrant): boolean {
  if (grouping && takesNodeDown(entry.risk)) return true;
  return isActOf(policy.spec.scope, entry) && isActOf(limit, entry);
}

function keyOf({ grouping }: PreparedLimit, entry: LedgerGrant, machine: MachineFacts | undefined): string {
  if (!grouping) return holderKey(entry.holder);
  return groupKey(grouping, machine ?? recorded(entry));
}

/** The machine as it was when the grant was issued. */
function recorded({ keys = {} }: LedgerGrant): Pick<MachineFacts, 'labels' | 'zone' | 'pool'> {
  const { zone, pool, ...labels } = keys;
  return { labels, ...(zone === undefined ? {} : { zone }), ...(pool === undefined ? {} : { pool }) };
}
