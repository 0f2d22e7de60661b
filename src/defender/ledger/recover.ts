/**
 * A ledger that was deleted, restored from a backup or edited is rebuilt from the grants that live objects carry. Until
 * every unrecorded grant has ended, everything is denied. Pure.
 */
import type { DefenderLedgerSpec, LedgerGrant } from '../../api/generated/types.ts';
import { isNewLedger } from '../../api/grants.ts';
import { RECOVERY_SECONDS } from '../guards/ledger-state.ts';
import { createDraft, EMPTY_LEDGER, finishDraft, type LedgerDraft } from './draft.ts';
import { grantOn } from './entries.ts';

/** A grant that a job, a component entry or our cordon carries. */
export interface LiveGrant {
  readonly machine: string;
  readonly entry: LedgerGrant;
  /** Its act has begun and is not over: the ledger must have it. */
  readonly isInWork: boolean;
  /** A kubelet can write it: one node must not stop the others. */
  readonly isForgeable?: boolean;
}

export interface Recovery {
  readonly spec: DefenderLedgerSpec;
  readonly because: string;
}

/** Undefined: the ledger is complete, or it is rebuilt already. `ledger` is undefined when the object is missing. */
export function planRecovery(
  ledger: DefenderLedgerSpec | undefined,
  live: readonly LiveGrant[],
  now: Date,
): Recovery | undefined {
  const because = recoveryReason(ledger, live);
  if (because === undefined) return undefined;
  const draft = createDraft(ledger ?? EMPTY_LEDGER);
  for (const grant of live) if (grant.isInWork) takeBack(draft, grant, now);
  const highest = Math.max(draft.seq, ...live.filter(isPlausible).map(({ entry }) => entry.fence));
  const spec = {
    ...finishDraft(draft),
    seq: highest + 1,
    recovering: true,
    recoveringSince: now.toISOString(),
  };
  return { spec, because };
}

/** With ten writes a second, no ledger comes near it in a thousand years. */
const MAX_FENCE = 2 ** 40;

function isPlausible({ entry, isForgeable = false }: LiveGrant): boolean {
  return !isForgeable || entry.fence < MAX_FENCE;
}

/**
 * A backup may have an older grant of the same machine. The server keeps a started entry until it is settled, so it is settled
 * first, and replaced by the next write.
 */
function takeBack(draft: LedgerDraft, { machine, entry }: LiveGrant, now: Date): void {
  const stored = grantOn(draft.grants, machine);
  if (stored && covers(stored, entry)) return;
  draft.grants[machine] =
    stored?.state === 'Started'
      ? { ...stored, state: 'Settled', settledAt: now.toISOString(), outcome: 'Ambiguous' }
      : { ...entry, state: 'Started' };
}

function recoveryReason(
  ledger: DefenderLedgerSpec | undefined,
  live: readonly LiveGrant[],
): string | undefined {
  if (!ledger) return 'the ledger is missing';
  if (isNewLedger(ledger) && live.length === 0) return undefined;
  const newer = live.find(({ entry, isForgeable = false }) => !isForgeable && entry.fence > ledger.seq);
  if (newer) {
    return `machine ${newer.machine} has a grant with fence ${newer.entry.fence}, and seq is ${ledger.seq}: restored from a backup`;
  }
  const unrecorded = live.find(({ machine, entry, isInWork }) => {
    const stored = grantOn(ledger.grants, machine);
    const isKnown = stored !== undefined && covers(stored, entry);
    return isInWork && !isKnown && (!ledger.recovering || stored?.state === 'Settled');
  });
  return (
    unrecorded &&
    `grant ${unrecorded.entry.id} of machine ${unrecorded.machine} is in work and not in the ledger`
  );
}

/** A machine has one grant: a later one shows that the one before was settled. */
function covers(stored: LedgerGrant, entry: LedgerGrant): boolean {
  return stored.id === entry.id || stored.fence > entry.fence;
}

/** One life of a grant after the recovery began, no unrecorded grant permits anything. */
export function isRecovered({ recovering, recoveringSince }: DefenderLedgerSpec, now: Date): boolean {
  return recovering && Date.parse(recoveringSince ?? '') + RECOVERY_SECONDS * 1000 <= +now;
}
