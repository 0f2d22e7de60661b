import { describe, expect, it } from 'vitest';
import type { RolloutEvent } from '../../../../src/sim/rollout/history.ts';
import { judgeHistory } from '../../../../src/sim/rollout/judge/judge.ts';
import { completed, desired, FIRST_BATCH, FLEET, host, machine, quiet, start } from './histories.ts';

function judge(...history: readonly (RolloutEvent | readonly RolloutEvent[])[]): readonly string[] {
  return judgeHistory(history.flat()).map((found) => `${found.machine}: ${found.what}`);
}

describe('judgeHistory', () => {
  it('finds nothing in a rollout of two batches that keeps every promise', () => {
    const second = ['m-2', 'm-3'].flatMap((name) => start(1400, name, { batch: 1 }));
    const ended = ['m-2', 'm-3'].map((name) => host(1450, name, 'Committed'));
    const third = [...start(1800, 'm-4', { batch: 2 }), host(1850, 'm-4', 'Committed')];
    expect(judge(FIRST_BATCH, second, ended, third, completed(2200), quiet())).toEqual([]);
  });

  it('says when and on which machine a promise was broken', () => {
    const paused = desired(1001, { paused: true });
    expect(judgeHistory([...FLEET, paused, ...start(1010, 'm-1')])).toEqual([
      { atMs: 1_010_000, machine: 'm-1', what: 'a start while the set is paused' },
    ]);
  });

  it('expects every machine that takes part at a revision that completed', () => {
    const late = completed(1400);
    const missing = ['m-2', 'm-3', 'm-4'].map((name) => `: r-2 completed, and ${name} is not at it`);
    expect(judge(FIRST_BATCH, late)).toEqual(missing);
    expect(judge(FIRST_BATCH, machine(1100, 'm-2', { isHeld: true }), late)).toEqual(missing.slice(1));
    expect(judge(FIRST_BATCH, machine(1100, 'm-2', { exists: false }), late)).toEqual(missing.slice(1));
    const leaves = machine(1100, 'm-2', { sets: [] });
    expect(judge(FIRST_BATCH, leaves, late)).toEqual(missing.slice(1));
    expect(judge(FIRST_BATCH, leaves, machine(1300, 'm-2'), late)).toEqual(missing.slice(1));
  });

  it('accepts that a machine gave the revision up, and not that it is in work', () => {
    const others = ['m-2', 'm-3', 'm-4'].map((name) => host(1100, name, 'Committed'));
    expect(judge(FLEET, others, host(1100, 'm-1', 'GaveUp'), completed(1400))).toEqual([]);
    expect(judge(FLEET, others, host(1100, 'm-1', 'Working'), completed(1400))).toEqual([
      ': r-2 completed, and m-1 is not at it',
    ]);
    // Its time is over: it failed.
    expect(judge(FLEET, others, host(1100, 'm-1', 'Working'), completed(2100))).toEqual([]);
  });

  it('forgets a machine that was deleted when another one has its name', () => {
    const again = [machine(1500, 'm-1', { uid: 'another' }), start(1800, 'm-1')].flat();
    expect(judge(FIRST_BATCH, start(1800, 'm-1'))).toEqual(['m-1: a second start on r-2']);
    expect(judge(FIRST_BATCH, again)).toEqual([]);
  });

  it.each([
    ['MachineBusy', ': the rollout of general does not end: MachineBusy'],
    ['Settling', ': the rollout of general does not end: Settling'],
    ['RolledBack', undefined],
    ['FailureBudgetSpent', undefined],
    ['ComponentNotFound', undefined],
  ])('judges a rollout that waits for %s when nothing happens any more', (reason, found) => {
    expect(judge(FLEET, quiet({ waits: { general: reason } }))).toEqual(found === undefined ? [] : [found]);
  });

  it('lets a rollout wait for a slot that a machine keeps which failed', () => {
    const waits = quiet({ waits: { general: 'TooManyUnavailable' } });
    expect(judge(FLEET, waits)).toEqual([': the rollout of general does not end: TooManyUnavailable']);
    expect(judge(FLEET, host(1100, 'm-1', 'GaveUp'), waits)).toEqual([]);
    const ofAnother = { ...host(1100, 'm-1', 'GaveUp'), set: 'extra' } as RolloutEvent;
    expect(judge(FLEET, ofAnother, waits)).toEqual([]);
    expect(judge(FLEET, machine(1000, 'm-1', { sets: ['extra'] }), ofAnother, waits)).toHaveLength(1);
  });

  it('lets a rollout wait for a machine that another rollout left unfinished, and that a person has to decide about', () => {
    const begun = { ...host(1100, 'm-1', 'Working'), set: 'extra' } as RolloutEvent;
    const both = machine(1000, 'm-1', { sets: ['general', 'extra'] });
    expect(judge(FLEET, both, begun, waitsWith('FailureBudgetSpent'))).toEqual([]);
    expect(judge(FLEET, both, begun, waitsWith('BatchUnproven'))).toEqual([]);
    // A rollout that goes on, or has completed, would have ended the update.
    expect(judge(FLEET, both, begun, waitsWith('AllDone'))).toHaveLength(1);
    const elsewhere = machine(1000, 'm-1', { sets: ['extra'] });
    expect(judge(FLEET, elsewhere, begun, waitsWith('FailureBudgetSpent'))).toHaveLength(1);
  });

  it('finds cordons and grants that are left when nothing happens any more', () => {
    expect(judge(FLEET, quiet({ cordons: ['m-1'], grants: ['m-2'] }))).toEqual([
      ': our cordon is left on m-1',
      ': our grant is left on m-2',
    ]);
  });
});

function waitsWith(extra: string): RolloutEvent {
  return quiet({ waits: { general: 'TooManyUnavailable', extra } });
}
