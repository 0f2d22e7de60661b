import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec, LedgerApproval } from '../../../../src/api/generated/types.ts';
import { createDraft, type LedgerDraft } from '../../../../src/defender/ledger/draft.ts';
import { type LedgerRecord, recordChange } from '../../../../src/defender/ledger/upkeep/record.ts';
import { ago, ledgerSpec } from '../../builders.ts';

const REFUSAL: LedgerApproval = {
  action: 'Drain',
  holder: 'j',
  decision: 'Refused',
  by: 'ann',
  at: ago(9),
  until: ago(-9),
};
const REBOOT: LedgerApproval = { ...REFUSAL, action: 'Reboot', decision: 'Approved', by: 'bob', at: ago(0) };

describe('recordChange', () => {
  it.each<[string, LedgerApproval | undefined, LedgerApproval, string]>([
    ['the first answer', undefined, REFUSAL, 'ann'],
    ['an answer that was written already, when its answer was lost', REBOOT, { ...REBOOT }, 'bob'],
    ['no other answer to the same act', REBOOT, { ...REBOOT, by: 'eve' }, 'it was approved by bob'],
    ['a refusal of what was approved', REBOOT, { ...REBOOT, by: 'eve', decision: 'Refused' }, 'eve'],
    [
      'no answer to another act that would forget a refusal',
      REFUSAL,
      REBOOT,
      'Drain by Other j was refused by ann',
    ],
    ['an answer to another act once the refusal ended', REFUSAL, { ...REBOOT, at: ago(-9) }, 'bob'],
  ])('records %s', (_, before, approval, by) => {
    const draft = draftOf(before ? { approvals: { 'm-1': before } } : {});
    const answer = record(draft, { kind: 'approval', machine: 'm-1', approval });
    expect(answer.kind === 'denial' ? answer.denial.message : draft.approvals['m-1']?.by).toMatch(
      new RegExp(`^${by}`),
    );
  });

  it.each<[string, number | undefined, boolean]>([
    ['of a pool that misses it', 1, true],
    ['of a pool that was not observed', undefined, true],
    ['of a pool that misses none, so that old deletions fill no ledger', 0, false],
  ])('R14 keeps a deleted machine %s: %s missing', (_, missing, isKept) => {
    const draft = draftOf({});
    expect(record(draft, deletion('m-x'), missing)).toEqual({ kind: 'done' });
    expect([Object.hasOwn(draft.gone, 'm-x'), draft.changed]).toEqual([isKept, isKept]);
  });

  it('R14 counts a deleted machine whatever its name is', () => {
    const draft = draftOf({});
    record(draft, deletion('constructor'));
    expect(Object.keys(draft.gone)).toEqual(['constructor']);
  });

  it('forgets the answer of a person when the machine is deleted: the next one of that name needs its own', () => {
    const draft = draftOf({ approvals: { 'm-x': REBOOT } });
    record(draft, deletion('m-x'), 0);
    expect([draft.approvals, draft.changed]).toEqual([{}, true]);
  });
});

function deletion(machine: string): LedgerRecord {
  return { kind: 'deleted', machine, deleted: { pool: 'web', since: ago(60) } };
}

function draftOf(spec: Partial<DefenderLedgerSpec>): LedgerDraft {
  return createDraft(ledgerSpec(spec));
}

function record(
  draft: LedgerDraft,
  change: LedgerRecord,
  missing: number | undefined = 1,
): ReturnType<typeof recordChange> {
  return recordChange(draft, change, { facts: { missingIn: () => missing }, isClockTrusted: true });
}
