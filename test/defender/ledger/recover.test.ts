import { describe, expect, it } from 'vitest';
import type { DefenderLedgerSpec } from '../../../src/api/generated/types.ts';
import { isRecovered, type LiveGrant, planRecovery } from '../../../src/defender/ledger/recover.ts';
import { ago, entry, ledgerSpec, NOW } from '../builders.ts';

function recovering(seconds: number): DefenderLedgerSpec {
  return ledgerSpec({ recovering: true, recoveringSince: ago(seconds) });
}

function live(machine: string, fence: number, isInWork = true): LiveGrant {
  return { machine, entry: entry(machine, { fence }), isInWork };
}

const NEW = ledgerSpec({ seq: 0, epoch: 0 });

describe('planRecovery', () => {
  it.each<[string, DefenderLedgerSpec | undefined, readonly LiveGrant[], string]>([
    ['a new ledger', NEW, [], 'complete'],
    ['a complete ledger', ledgerSpec({ grants: { 'm-1': entry('m-1') } }), [live('m-1', 7)], 'complete'],
    ['a ledger whose settled grants left it', ledgerSpec(), [live('m-1', 6, false)], 'complete'],
    [
      'a ledger that recovers already',
      ledgerSpec({ recovering: true, recoveringSince: ago(9) }),
      [live('m-1', 6)],
      'complete',
    ],
    ['no ledger', undefined, [], 'the ledger is missing'],
    [
      'a new ledger under live grants',
      NEW,
      [live('m-1', 90)],
      'machine m-1 has a grant with fence 90, and seq is 0: restored from a backup',
    ],
    [
      'a backup',
      ledgerSpec(),
      [live('m-1', 9, false)],
      'machine m-1 has a grant with fence 9, and seq is 7: restored from a backup',
    ],
    [
      'an edited ledger',
      ledgerSpec(),
      [live('m-1', 6)],
      'grant g-m-1 of machine m-1 is in work and not in the ledger',
    ],
  ])('R32 recognizes a ledger that was lost: %s', (_, ledger, grants, because) => {
    expect(planRecovery(ledger, grants, NOW)?.because ?? 'complete').toBe(because);
  });

  it('R32 rebuilds what is in work, keeps what was started, and continues above every fence', () => {
    const ledger = ledgerSpec({ grants: { 'm-2': entry('m-2') } });
    const recovery = planRecovery(ledger, [live('m-1', 90), live('m-3', 95, false), live('m-2', 80)], NOW);
    expect(recovery?.spec).toMatchObject({
      seq: 96,
      recovering: true,
      recoveringSince: NOW.toISOString(),
      grants: { 'm-1': { fence: 90, state: 'Started' }, 'm-2': { fence: 7 } },
    });
    expect(recovery?.spec.grants).not.toHaveProperty('m-3');
  });

  it('R32 settles an older grant of the same machine that a backup has, then replaces it by the one in work', () => {
    const before = ledgerSpec({
      grants: {
        'm-1': entry('m-1', { id: 'g-old' }),
        'm-2': entry('m-2', { id: 'g-old', state: 'Granted' }),
      },
    });
    const grants = [live('m-1', 90), live('m-2', 91)];
    const first = planRecovery(before, grants, NOW)?.spec;
    expect(first?.grants).toMatchObject({
      'm-1': { id: 'g-old', state: 'Settled', outcome: 'Ambiguous', settledAt: NOW.toISOString() },
      'm-2': { id: 'g-m-2', state: 'Started', fence: 91 },
    });
    const second = planRecovery(first, grants, NOW)?.spec;
    expect(second).toMatchObject({
      seq: 93,
      recovering: true,
      grants: { 'm-1': { id: 'g-m-1', state: 'Started', fence: 90 } },
    });
    expect(planRecovery(second, grants, NOW)).toBeUndefined();
  });

  it('R32 takes an act for settled when the ledger has a later grant of its machine', () => {
    const ledger = ledgerSpec({ seq: 99, grants: { 'm-1': entry('m-1', { id: 'g-later', fence: 95 }) } });
    const two = [live('m-1', 90), live('m-2', 98)];
    expect(planRecovery(ledger, [live('m-1', 90)], NOW)).toBeUndefined();
    expect(planRecovery(ledger, two, NOW)?.spec.grants).toMatchObject({
      'm-1': { id: 'g-later', state: 'Started' },
      'm-2': { fence: 98 },
    });
  });

  it('R32 begins no recovery for a mark that a kubelet can write, and no seq near its bound', () => {
    const forged = { ...live('m-1', 9_007_199_254_740_991, false), isForgeable: true };
    expect(planRecovery(ledgerSpec(), [forged], NOW)).toBeUndefined();
    expect(planRecovery(undefined, [forged, live('m-2', 40)], NOW)?.spec.seq).toBe(41);
    expect(planRecovery(undefined, [{ ...live('m-1', 88, false), isForgeable: true }], NOW)?.spec.seq).toBe(
      89,
    );
  });

  it('R32 is over one life of a grant after it began', () => {
    expect([
      isRecovered(recovering(299), NOW),
      isRecovered(recovering(300), NOW),
      isRecovered(ledgerSpec(), NOW),
    ]).toEqual([false, true, false]);
  });
});
