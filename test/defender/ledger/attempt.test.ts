import { describe, expect, it } from 'vitest';
import type { LiveGrant } from '../../../src/defender/ledger/recover.ts';
import { ask, entry } from '../builders.ts';
import { ledgerBed } from './bed.ts';

const CRASHES = (['before', 'after'] as const).flatMap((when) => [1, 2, 3].map((n) => [when, n] as const));

describe('one batch against the ledger', () => {
  it.each(CRASHES)('R13 a crash %s write %i loses nothing and grants nothing twice', async (when, n) => {
    const bed = await ledgerBed();
    const first = await bed.replica();
    first.connection.crashAt(n, when);
    const before = await first.ledger.ask([ask(), ask({ machine: 'm-2' })]);
    const second = await bed.replica();
    const found = await second.ledger.ask([ask(), ask({ machine: 'm-2' }), ask({ machine: 'm-3' })]);
    expect(Object.values(bed.spec().grants).map(({ state }) => state)).toEqual(['Granted', 'Granted']);
    expect(found.map(({ granted }) => granted)).toEqual([true, true, false]);
    expect(found).toEqual(expect.arrayContaining(before.filter(({ granted }) => granted)));
  });

  it.each([
    ['Unreachable', true],
    ['Timeout', true],
    ['Conflict', false],
    ['ServerError', false],
  ] as const)(
    'R13 a write answered by %s (arrived: %s) is read back before it is repeated',
    async (code, arrives) => {
      const bed = await ledgerBed();
      const { ledger } = await bed.replica({ failures: [{ code, arrives }] });
      const [grant] = await ledger.ask([ask()]);
      expect(grant).toMatchObject({ granted: true });
      expect(bed.spec()).toMatchObject({ seq: 1, grants: { 'm-1': { state: 'Granted' } } });
      expect(Object.values(bed.spec().rates)).toMatchObject([{ counts: [1] }]);
    },
  );

  it.each([
    ['Conflict', 'LedgerConflict'],
    ['Unreachable', 'LedgerUnavailable'],
    ['Aborted', 'LedgerUnavailable'],
  ] as const)('R13 denies when every write fails with %s', async (code, reason) => {
    const bed = await ledgerBed();
    const failures = Array.from({ length: 5 }, () => ({ code, arrives: false }));
    const { ledger } = await bed.replica({ failures });
    expect(await ledger.ask([ask()])).toMatchObject([{ granted: false, reason }]);
    expect(bed.spec().seq).toBe(0);
    await expect(ledger.settle([{ id: 'x', fence: 1, outcome: 'Failed' }])).resolves.toBeUndefined();
  });

  it.each([
    ['a ledger that another write changed first', 'Conflict', 1, []],
    ['one that others change each time', 'Conflict', 5, ['LedgerConflict']],
    ['a server that does not answer', 'Unreachable', 1, ['LedgerUnavailable']],
  ] as const)('R13 warns of %s only when it is more than expected', async (_, code, times, warned) => {
    const bed = await ledgerBed();
    const failures = Array.from({ length: times }, () => ({ code, arrives: false }));
    const { ledger, log } = await bed.replica({ failures });
    await ledger.ask([ask()]);
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields['reason'])).toEqual(warned);
    expect(ledger.conflicts).toBe(code === 'Conflict' ? times : 0);
  });

  it('denies while the objects with grants were not read, so that no missing ledger goes unnoticed', async () => {
    const bed = await ledgerBed();
    const { ledger } = await bed.replica({ live: () => undefined });
    expect(await ledger.ask([ask()])).toMatchObject([
      { reason: 'LedgerUnavailable', message: 'not all objects with grants were read' },
    ]);
  });

  it('R32 is usable at once with the ledger of a new installation', async () => {
    const bed = await ledgerBed();
    const { ledger } = await bed.replica();
    expect(await ledger.ask([ask()])).toMatchObject([{ granted: true, fence: 1 }]);
  });

  it('R32 rebuilds a deleted ledger, denies for one life of a grant, and continues', async () => {
    const bed = await ledgerBed();
    const live: readonly LiveGrant[] = [
      { machine: 'm-5', entry: entry('m-5', { fence: 40 }), isInWork: true },
    ];
    const { ledger } = await bed.replica({ live: () => live });
    bed.delete();
    expect(await ledger.ask([ask()])).toMatchObject([{ reason: 'LedgerRecovering' }]);
    expect(bed.spec()).toMatchObject({ seq: 41, recovering: true, grants: { 'm-5': { id: 'g-m-5' } } });
    await bed.advance(300_000);
    const again = ask({ factsAt: bed.clock.now() });
    expect(await ledger.ask([again])).toMatchObject([{ granted: true, fence: 42 }]);
    expect(bed.spec()).toMatchObject({ recovering: false });
  });

  it.each([86_400, -86_400])(
    'R32 begins a recovery at the time of the server when our clock is %i s ahead',
    async (skewSeconds) => {
      const bed = await ledgerBed();
      const { ledger } = await bed.replica({ skewSeconds });
      bed.delete();
      expect(await ledger.ask([ask()])).toMatchObject([{ granted: false }]);
      const sinceMs = Date.parse(bed.spec().recoveringSince ?? '');
      expect(Math.abs(+bed.clock.now() - sinceMs)).toBeLessThan(10_000);
    },
  );

  it('R32 does not recover for an act that a person settled, although its job never ended', async () => {
    const bed = await ledgerBed();
    const held: LiveGrant[] = [];
    const { ledger } = await bed.replica({ live: () => held });
    const [grant] = await ledger.ask([ask({ started: true })]);
    const { id, fence } = grant?.granted ? grant : { id: '', fence: 0 };
    held.push({ machine: 'm-1', entry: entry('m-1', { id, fence }), isInWork: true });
    await ledger.settle([{ id, fence, outcome: 'Ambiguous' }]);
    await bed.advance(1_000_000);
    await ledger.sweep();
    await ledger.sweep();
    expect(bed.spec()).toMatchObject({ recovering: false, grants: { 'm-1': { state: 'Settled' } } });
    const [next] = await ledger.ask([ask({ factsAt: bed.clock.now() })]);
    expect(next).toMatchObject({ granted: true });
    await ledger.sweep();
    expect(bed.spec()).toMatchObject({ recovering: false, grants: { 'm-1': { state: 'Granted' } } });
    held.length = 0;
    await bed.advance(1_000_000);
    await ledger.sweep();
    expect(bed.spec().grants).toEqual({});
  });

  it('a new leader raises the epoch, and the one before is denied everything', async () => {
    const bed = await ledgerBed();
    const first = await bed.replica({ leads: true });
    await first.ledger.ask([ask()]);
    const second = await bed.replica({ leads: true });
    await second.ledger.sweep();
    expect(bed.spec().epoch).toBe(2);
    expect(await first.ledger.ask([ask({ machine: 'm-2' })])).toMatchObject([
      { reason: 'LedgerUnavailable', message: 'another Defender leads, with epoch 2' },
    ]);
  });
});

describe('a dry run', () => {
  it('R13 writes nothing: no recovery of a deleted ledger, and answers as the rebuilt one would', async () => {
    const bed = await ledgerBed();
    const { ledger } = await bed.replica();
    bed.delete();
    expect(await ledger.dryRun([ask()])).toMatchObject([{ granted: false, reason: 'LedgerRecovering' }]);
    expect(() => bed.spec()).toThrow(TypeError);
  });

  it('R13 writes nothing for a restored ledger, nor an epoch of its own', async () => {
    const bed = await ledgerBed();
    const live: readonly LiveGrant[] = [
      { machine: 'm-5', entry: entry('m-5', { fence: 40 }), isInWork: true },
    ];
    const restored = await bed.replica({ live: () => live, leads: true });
    expect(await restored.ledger.dryRun([ask()])).toMatchObject([{ reason: 'LedgerRecovering' }]);
    const { ledger } = await bed.replica({ leads: true });
    expect(await ledger.dryRun([ask()])).toEqual([{ granted: true, dryRun: true }]);
    expect(bed.spec()).toMatchObject({ seq: 0, epoch: 0, recovering: false, grants: {} });
    await ledger.ask([ask()]);
    expect(bed.spec()).toMatchObject({ seq: 1, epoch: 1 });
  });
});

describe('createLedger', () => {
  it('decides what arrives within 50 ms together, in one write', async () => {
    const bed = await ledgerBed();
    const { ledger } = await bed.replica();
    const answers = await Promise.all(['m-1', 'm-2', 'm-3'].map((machine) => ledger.ask([ask({ machine })])));
    expect(answers.flat().map(({ granted }) => granted)).toEqual([true, true, false]);
    expect(bed.spec().seq).toBe(1);
  });

  it('R13 rejects a settlement that could not be written, so that its holder tries again', async () => {
    const bed = await ledgerBed();
    const failures = Array.from({ length: 6 }, () => ({ code: 'Unreachable' as const, arrives: false }));
    const { ledger } = await bed.replica({ failures });
    const other = await bed.replica();
    const [grant] = await other.ledger.ask([ask()]);
    const { id, fence } = grant?.granted ? grant : { id: '', fence: 0 };
    await expect(ledger.settle([{ id, fence, outcome: 'Failed' }])).rejects.toThrow(
      'ledger not written: LedgerUnavailable',
    );
    await ledger.settle([{ id, fence, outcome: 'Failed' }]);
    expect(bed.spec().grants['m-1']).toMatchObject({ state: 'Settled', outcome: 'Failed' });
  });
});
