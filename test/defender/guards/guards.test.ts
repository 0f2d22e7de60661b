import { describe, expect, it } from 'vitest';
import { GUARD_IDS, GUARDS } from '../../../src/defender/guards/guards.ts';
import { decideScene, entry, policy } from '../builders.ts';

const SALE = {
  name: 'sale',
  from: '2029-01-01T00:00:00Z',
  until: '2031-01-01T00:00:00Z',
  reason: 'x',
  risks: [],
};

describe('GUARDS', () => {
  it('has one id for each guard', () => {
    expect(new Set(GUARD_IDS).size).toBe(GUARDS.length);
  });

  it('R18 is skipped by a recovery as the table of defender.md section 3 promises, and otherwise never', () => {
    const skipped = GUARDS.filter(({ skippedByRecovery }) => skippedByRecovery).map(({ id }) => id);
    expect(skipped).toEqual([
      'dark-zone',
      'zonal-shift',
      'breaker-open',
      'common-cause',
      'storm-cooldown',
      'quiet-window',
      'freeze',
      'alerts',
      'node-age',
      'repair-limits',
      'last-ready',
      'concurrency',
      'rates',
    ]);
  });

  it('R18 lets a rollback through budgets, breakers and windows, and not through the kill switch', () => {
    const rollback = { action: 'UpdateComponent', recovery: true } as const;
    const full = {
      concurrency: [{ name: 'l', per: 'Cluster' as const, actions: [], max: 0 }],
      freezes: [SALE],
    };
    expect(decideScene({ policies: [policy(full)] }).permitted).toBe(false);
    expect(decideScene({ policies: [policy(full)], ask: rollback }).permitted).toBe(true);
    const stopped = policy({ ...full, killSwitch: { engaged: true, scope: 'All', by: 'ann', reason: 'x' } });
    expect(decideScene({ policies: [stopped], ask: rollback })).toMatchObject({ reason: 'KillSwitch' });
    const busy = { grants: { 'm-1': entry('m-1') } };
    expect(decideScene({ ledger: busy, ask: rollback })).toMatchObject({ reason: 'NodeBusy' });
  });

  it.each([
    ['Remedy', 'RemedyOperationJob', false],
    ['Remedy', 'MachineComponentSet', true],
    ['Rollout', 'RemedyOperationJob', true],
    ['Rollout', 'MachineComponentSet', false],
    ['All', 'Other', false],
  ] as const)('R25 a kill switch for %s, asked by a %s: permitted %s', (scope, kind, permitted) => {
    const stop = policy(
      { mode: 'Audit', killSwitch: { engaged: true, scope, by: 'ann', reason: 'x' } },
      'stop',
    );
    const holder = { kind, name: 'x', revision: 'r-1' };
    expect(decideScene({ policies: [policy(), stop], ask: { holder } }).permitted).toBe(permitted);
  });

  it('R25 a kill switch ends at its time', () => {
    const ended = {
      engaged: true,
      scope: 'All',
      by: 'ann',
      reason: 'x',
      until: '2030-01-01T11:59:59Z',
    } as const;
    expect(decideScene({ policies: [policy({ killSwitch: ended })] }).permitted).toBe(true);
  });

  it('R24 exempts fault classes from a quiet window, and other risks from a freeze', () => {
    const quiet = {
      name: 'noon',
      start: '11:00',
      end: '13:00',
      timeZone: 'UTC',
      risks: [],
      exceptFaultClasses: ['GPU' as const],
    };
    const scene = { policies: [policy({ quiet: [quiet] })] };
    expect(decideScene(scene).permitted).toBe(false);
    expect(decideScene({ ...scene, ask: { faultClass: 'GPU' } }).permitted).toBe(true);
    const freezes = [{ ...SALE, risks: ['Pod' as const] }];
    expect(decideScene({ policies: [policy({ freezes })] }).permitted).toBe(true);
  });
});
