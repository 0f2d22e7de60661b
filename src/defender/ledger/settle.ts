/** The end of a grant: it lingers, feeds the breakers, and a machine that it deleted stays counted. Pure. */
import type { LedgerGone, LedgerGrant } from '../../api/generated/types.ts';
import type { GrantSettlement } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import { recordOutcome } from '../breakers/act-outcome.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { LEDGER_MAXIMUM } from '../guards/ledger-state.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import type { LedgerDraft } from './draft.ts';
import { isSameHolder } from './entries.ts';
import { hasRoom } from './upkeep/bounds.ts';
import { recordRepair } from './upkeep/rule-waves.ts';

/** Acts after which the machine is missing until its replacement was Ready. */
const DELETING: readonly string[] = ['DeleteMachine', 'ReplaceMachine'];

export interface SettleInput {
  readonly policies: PreparedPolicies;
  readonly facts: Pick<FleetFacts, 'machine'>;
  readonly now: Date;
}

/** Without effect for a grant that is settled, or not in the ledger. */
export function settleGrant(draft: LedgerDraft, settlement: GrantSettlement, input: SettleInput): void {
  const found = findGrant(draft, settlement.id);
  if (!found || !isOpen(found, settlement)) return;
  const { machine, entry } = found;
  const { outcome } = settlement;
  const { policies, facts, now } = input;
  draft.changed = true;
  recordOutcome(draft, { machine, entry, outcome, facts: facts.machine(machine) }, policies, now);
  recordRepair(draft, { machine, entry, settlement }, { policies, now });
  const settled: LedgerGrant = { ...entry, state: 'Settled', settledAt: now.toISOString(), outcome };
  const hasBegun = outcome !== 'Unused' || entry.state === 'Started';
  if (hasBegun) draft.grants[machine] = settled;
  else delete draft.grants[machine];
  if (hasBegun && DELETING.includes(entry.action)) addDeleted(draft, machine, deletedMachine(entry, now));
}

/** Why a caller that is not trusted may not settle the grant. One that has ended is settled already. */
export function settlementProblem(
  draft: Pick<LedgerDraft, 'grants'>,
  { id, fence, holder }: GrantSettlement,
): string | undefined {
  const entry = findGrant(draft, id)?.entry;
  if (!holder || !entry) return undefined;
  if (!isSameHolder(entry.holder, holder)) return `grant ${id} belongs to another holder`;
  return fence > entry.fence ? `grant ${id} has fence ${entry.fence}, not ${fence}` : undefined;
}

/** A recovery rebuilds a grant with its own fence: a holder never has a higher one. */
function isOpen({ entry }: FoundGrant, { fence }: GrantSettlement): boolean {
  return isInFlight(entry) && fence <= entry.fence;
}

/** The Defender records the deletion itself as soon as there is room. */
function addDeleted({ gone }: LedgerDraft, machine: string, deleted: LedgerGone): void {
  if (!Object.hasOwn(gone, machine) && hasRoom(gone, machine, LEDGER_MAXIMUM.gone)) gone[machine] = deleted;
}

function deletedMachine({ keys: { zone, pool } = {} }: LedgerGrant, now: Date): LedgerGone {
  return {
    ...(pool === undefined ? {} : { pool }),
    ...(zone === undefined ? {} : { zone }),
    since: now.toISOString(),
  };
}

export interface FoundGrant {
  readonly machine: string;
  readonly entry: LedgerGrant;
}

export function findGrant({ grants }: Pick<LedgerDraft, 'grants'>, id: string): FoundGrant | undefined {
  for (const machine of Object.keys(grants)) {
    const entry = grants[machine];
    if (entry?.id === id) return { machine, entry };
  }
  return undefined;
}
