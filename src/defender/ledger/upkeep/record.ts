/** Records what people and the controller write into the ledger beside grants: answers, closed breakers, deleted machines. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { DenyReason } from '../../../api/deny-reasons.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { answeredReason } from '../../approvals/plan.ts';
import { closeBreaker } from '../../breakers/review.ts';
import type { FleetFacts } from '../../facts/facts.ts';
import { NO_KEY } from '../../facts/grouping.ts';
import { LEDGER_MAXIMUM } from '../../guards/ledger-state.ts';
import type { LedgerDraft } from '../draft.ts';
import { DONE, type LedgerAnswer, type LedgerRequest } from '../requests.ts';
import { hasRoom } from './bounds.ts';

export type LedgerRecord = Extract<LedgerRequest, { kind: 'deleted' | 'closeBreaker' | 'approval' }>;

export interface RecordInput {
  readonly facts: Pick<FleetFacts, 'missingIn'>;
  readonly isClockTrusted: boolean;
}

export function recordChange(draft: LedgerDraft, change: LedgerRecord, input: RecordInput): LedgerAnswer {
  if (change.kind === 'approval') return recordApproval(draft, change, input);
  if (change.kind === 'deleted') return recordDeleted(draft, change, input);
  recordClosure(draft, change);
  return DONE;
}

export function refused(reason: DenyReason, message: string): LedgerAnswer {
  return { kind: 'denial', denial: { granted: false, reason, message, also: [] } };
}

/** Records the answer of a person. The first of two answers holds, except that an approval may be taken back. */
function recordApproval(
  draft: LedgerDraft,
  { machine, approval }: Extract<LedgerRecord, { kind: 'approval' }>,
  { isClockTrusted }: RecordInput,
): LedgerAnswer {
  const before = ownValue(draft.approvals, machine);
  // The write before arrived, and its answer did not.
  if (isDeepStrictEqual(before, approval)) return DONE;
  if (!isClockTrusted) {
    return refused(
      'FactUnknown',
      "the clock differs from the API server's: the answer would not end in time",
    );
  }
  const message = answeredReason(before, approval);
  if (message !== undefined) return refused('ApprovalRefused', message);
  if (!hasRoom(draft.approvals, machine, LEDGER_MAXIMUM.approvals)) return full('approvals');
  draft.approvals[machine] = approval;
  draft.changed = true;
  return DONE;
}

/** Records a deleted machine, unless its pool misses no machine: then the pool has replaced it, or does not want it any more. */
function recordDeleted(
  draft: LedgerDraft,
  { machine, deleted }: Extract<LedgerRecord, { kind: 'deleted' }>,
  { facts }: RecordInput,
): LedgerAnswer {
  // An answer was about the machine that is deleted, not about the next one of its name.
  if (Object.hasOwn(draft.approvals, machine)) {
    delete draft.approvals[machine];
    draft.changed = true;
  }
  const isMissing = facts.missingIn(deleted.pool ?? NO_KEY) !== 0;
  if (!isMissing || Object.hasOwn(draft.gone, machine)) return DONE;
  if (!hasRoom(draft.gone, machine, LEDGER_MAXIMUM.gone)) return full('gone');
  draft.gone[machine] = deleted;
  draft.changed = true;
  return DONE;
}

function full(part: 'approvals' | 'gone'): LedgerAnswer {
  const maximum = LEDGER_MAXIMUM[part];
  return refused('LedgerFull', `${part} of the ledger: ${maximum} of ${maximum} entries`);
}

/** The maximum number of entries in `closures`. */
const MAX_CLOSURES = 16;

function recordClosure(
  draft: LedgerDraft,
  { id, closure }: Extract<LedgerRecord, { kind: 'closeBreaker' }>,
): void {
  closeBreaker(draft, id);
  const { [id]: _, ...others } = draft.closures ?? {};
  const latest = Object.entries(others).toSorted(([, a], [, b]) => Date.parse(b.at) - Date.parse(a.at));
  draft.closures = Object.fromEntries([[id, closure], ...latest.slice(0, MAX_CLOSURES - 1)]);
}
