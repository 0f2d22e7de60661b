import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../../src/api/audit/lines.ts';
import type { LedgerApproval } from '../../../src/api/generated/types.ts';
import {
  type AuditedLedger,
  inFlightActs,
  ledgerLineKey,
  ledgerLines,
  NO_ENTRIES,
} from '../../../src/defender/audit/acts.ts';
import { entry, NOW } from '../builders.ts';

const SETTLED = { state: 'Settled', settledAt: '2030-01-01T11:58:00.000Z', outcome: 'Succeeded' } as const;
const APPROVAL: LedgerApproval = {
  action: 'Reboot',
  holder: 'm-1-job',
  holderKind: 'RemedyOperationJob',
  decision: 'Approved',
  by: 'ann',
  reason: 'checked by hand',
  at: '2030-01-01T11:57:00Z',
  until: '2030-01-01T12:57:00Z',
};

function ledger(grants: AuditedLedger['grants'], more: Partial<AuditedLedger> = {}): AuditedLedger {
  return { ...NO_ENTRIES, grants, ...more };
}

function shown(line: AuditLine): string {
  if (line.type === 'act') return `${line.machine} ${line.grant} ${line.outcome}`;
  return line.type === 'answer' ? `${line.machine} ${line.decision} by ${line.by}` : line.type;
}

describe('ledgerLines', () => {
  it.each<[name: string, before: AuditedLedger, after: AuditedLedger, expected: readonly string[]]>([
    ['nothing for a grant in flight', NO_ENTRIES, ledger({ 'm-1': entry('m-1') }), []],
    [
      'an act when its grant is settled',
      ledger({ 'm-1': entry('m-1') }),
      ledger({ 'm-1': entry('m-1', SETTLED) }),
      ['m-1 g-m-1 Succeeded'],
    ],
    [
      'nothing while it lingers',
      ledger({ 'm-1': entry('m-1', SETTLED) }),
      ledger({ 'm-1': entry('m-1', SETTLED) }),
      [],
    ],
    ['nothing when it stops lingering', ledger({ 'm-1': entry('m-1', SETTLED) }), NO_ENTRIES, []],
    [
      'an act that another one replaces at once',
      ledger({ 'm-1': entry('m-1', { ...SETTLED, id: 'g-1' }) }),
      ledger({ 'm-1': entry('m-1', { ...SETTLED, id: 'g-2', outcome: 'Failed' }) }),
      ['m-1 g-2 Failed'],
    ],
    [
      'a permission that was not used',
      ledger({ 'm-1': entry('m-1', { state: 'Granted' }) }),
      NO_ENTRIES,
      ['m-1 g-m-1 Unused'],
    ],
    [
      'an act whose ledger was lost, as unknown and not as failed',
      ledger({ 'm-1': entry('m-1', { state: 'Started' }) }),
      NO_ENTRIES,
      ['m-1 g-m-1 Unknown'],
    ],
    [
      'the grant of a new ledger that has the same id',
      ledger({ 'm-1': entry('m-1', { ...SETTLED, issuedAt: '2029-01-01T00:00:00Z' }) }),
      ledger({ 'm-1': entry('m-1', SETTLED) }),
      ['m-1 g-m-1 Succeeded'],
    ],
    [
      'the answer of a person',
      NO_ENTRIES,
      ledger({}, { approvals: { 'm-1': APPROVAL } }),
      ['m-1 Approved by ann'],
    ],
    [
      'an answer that is taken back',
      ledger({}, { approvals: { 'm-1': APPROVAL } }),
      ledger({}, { approvals: { 'm-1': { ...APPROVAL, decision: 'Refused' } } }),
      ['m-1 Refused by ann'],
    ],
    ['no answer that was used', ledger({}, { approvals: { 'm-1': APPROVAL } }), NO_ENTRIES, []],
    [
      'a breaker that a person closed',
      NO_ENTRIES,
      ledger({}, { closures: { 'p/b/k': { by: 'ann', reason: 'fixed', at: '2030-01-01T11:00:00Z' } } }),
      ['closure'],
    ],
    [
      'a machine with the name of a property of every object',
      NO_ENTRIES,
      ledger({ constructor: entry('constructor', SETTLED) }),
      ['constructor g-constructor Succeeded'],
    ],
  ])('S30 records in the audit record %s', (_, before, after, expected) => {
    expect(ledgerLines(before, after, NOW).map(shown)).toEqual(expected);
  });

  it('S30 names the grant, who asked, for what rule, and when it ended', () => {
    const holder = {
      kind: 'RemedyOperationJob',
      name: 'm-1-job',
      origin: 'NodeRemedier/disk',
      revision: 'c1',
    } as const;
    const [line] = ledgerLines(NO_ENTRIES, ledger({ 'm-1': entry('m-1', { ...SETTLED, holder }) }), NOW);
    expect(line).toMatchObject({
      type: 'act',
      at: SETTLED.settledAt,
      machine: 'm-1',
      grant: 'g-m-1',
      holder: 'RemedyOperationJob/m-1-job',
      origin: 'NodeRemedier/disk',
      revision: 'c1',
      outcome: 'Succeeded',
    });
  });
});

describe('inFlightActs', () => {
  it('S30 shows acts that have not ended, and no others', () => {
    const grants = { 'm-1': entry('m-1'), 'm-2': entry('m-2', SETTLED) };
    expect(inFlightActs(ledger(grants)).map(shown)).toEqual(['m-1 g-m-1 InFlight']);
  });
});

describe('ledgerLineKey', () => {
  it('S30 tells lines apart, and is the same for a line that is recorded twice', () => {
    const after = ledger(
      { 'm-1': entry('m-1', SETTLED), 'm-2': entry('m-2', SETTLED) },
      { approvals: { 'm-1': APPROVAL }, closures: { b: { by: 'ann', reason: 'r', at: APPROVAL.at } } },
    );
    const keys = ledgerLines(NO_ENTRIES, after, NOW).map(ledgerLineKey);
    expect(new Set(keys).size).toBe(4);
    expect(ledgerLines(NO_ENTRIES, after, new Date(0)).map(ledgerLineKey)).toEqual(keys);
  });
});
