/** Checks that every grant of a job is settled once, after its outcome and before its finalizer is removed. */
import type { DefenderLedger, LedgerGrant, RemedyOperationJob } from '../../../../api/generated/types.ts';

export interface LedgerRules {
  written(
    ledger: DefenderLedger,
    jobOf: (grant: string) => RemedyOperationJob | undefined,
  ): readonly string[];
  /** Returns what the finalizer of this job must not leave behind. */
  openGrantOf(ledger: DefenderLedger | undefined, job: RemedyOperationJob): readonly string[];
  /** Tells whether the limit of the policy counts the grant. */
  isDisruptive(grant: string): boolean;
}

export function createLedgerRules(): LedgerRules {
  const known = new Map<string, LedgerGrant>();
  return {
    written: (ledger, jobOf) =>
      Object.values(ledger.spec.grants).flatMap((entry) => {
        const before = known.get(entry.id);
        known.set(entry.id, entry);
        const job = jobOf(entry.id);
        return job ? settlementViolations(before, entry, job) : [];
      }),
    openGrantOf: (ledger, { spec }) => {
      const entry = ledger?.spec.grants[spec.machine.name];
      const isOpen = entry?.id === spec.grant.id && entry.state !== 'Settled';
      return isOpen ? ['a job gave up its finalizer with an open grant'] : [];
    },
    isDisruptive: (grant) => ['Node', 'Machine', 'Data'].includes(known.get(grant)?.risk ?? 'None'),
  };
}

function settlementViolations(
  before: LedgerGrant | undefined,
  after: LedgerGrant,
  { status }: RemedyOperationJob,
): readonly string[] {
  if (before?.state === 'Settled') {
    return after.state === 'Settled' && after.outcome === before.outcome ? [] : ['a grant settled twice'];
  }
  const isEarly = after.state === 'Settled' && status?.outcome === undefined;
  return isEarly ? ['a grant settled before the outcome of its job'] : [];
}
