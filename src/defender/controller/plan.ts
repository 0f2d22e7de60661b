/** Decides which started grants past their end are settled: only those whose holder and machine are in a known state. Pure. */
import type { DefenderLedgerSpec, LedgerHolder } from '../../api/generated/types.ts';
import type { GrantSettlement } from '../../api/grants.ts';
import type { MachineFacts } from '../facts/facts.ts';
import type { HolderState } from '../facts/holder-state.ts';
import { isSuspect } from '../ledger/entries.ts';

export interface ExpiryPlanInput {
  readonly ledger: DefenderLedgerSpec;
  /** A set holds many grants: what counts is its entry for this machine. */
  readonly holder: (machine: string, holder: LedgerHolder) => HolderState;
  /** Undefined: the machine is unknown, or was deleted. */
  readonly machine: (name: string) => MachineFacts | undefined;
  readonly now: Date;
}

export interface SuspectPlan {
  readonly machine: string;
  readonly because: string;
  /** Absent: it waits. */
  readonly settlement?: GrantSettlement;
  /** It waits for so long that a person has to look. */
  readonly isAlert: boolean;
}

const ALERT_SECONDS = 600;

export function planExpiry({ ledger, holder, machine, now }: ExpiryPlanInput): readonly SuspectPlan[] {
  return Object.entries(ledger.grants)
    .filter(([, entry]) => isSuspect(entry, now))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { id, fence, holder: of, notAfter }]) => {
      const isAlert = +now - Date.parse(notAfter) > ALERT_SECONDS * 1000;
      const wait = waitReason(holder(name, of), machine(name)?.readiness);
      if (wait !== undefined) return { machine: name, because: `${of.kind} ${of.name}: ${wait}`, isAlert };
      const because = `${of.kind} ${of.name} ended, and the state of machine ${name} is known`;
      return { machine: name, because, settlement: { id, fence, outcome: 'Ambiguous' }, isAlert: false };
    });
}

function waitReason(
  holder: HolderState,
  readiness: MachineFacts['readiness'] | undefined,
): string | undefined {
  if (holder === 'Active') return 'it is still active';
  if (holder === 'Unknown') return 'its state is unknown';
  return readiness === 'Unknown' ? 'the state of its machine is unknown' : undefined;
}
