/** Decides how long the status of the ledger may wait for a later one that replaces it. Pure. */
import type { DefenderLedgerStatus } from '../../api/generated/types.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';

/** The ledger has an entry for each machine that was acted on, so each write of its status costs as much as one of its grants. */
export const COUNTS_MS = 5000;

/** Returns how long it may wait: counts do; bad news, and what a person has to answer, does not. */
export function ledgerReportDelayMs(
  live: DefenderLedgerStatus | undefined,
  next: DefenderLedgerStatus,
): number {
  const isCountsAlone = live && canonicalJson(withoutCounts(live)) === canonicalJson(withoutCounts(next));
  return isCountsAlone ? COUNTS_MS : 0;
}

/** An update changes which machines are Ready and up to date from second to second. Machines that fail do not wait. */
function withoutCounts({ phase, conditions, approvals, grants, machines }: DefenderLedgerStatus): unknown {
  const found = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  const { ready: _ready, upToDate: _upToDate, ...counted } = machines ?? {};
  const isCounted = machines !== undefined;
  return { phase, conditions: found, approvals, suspect: grants?.suspect ?? 0, isCounted, ...counted };
}
