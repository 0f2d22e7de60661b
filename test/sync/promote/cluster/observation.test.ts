import { describe, expect, it } from 'vitest';
import type { ClusterReport } from '../../../../src/sync/cluster-report.ts';
import {
  findObstacle,
  isObservedUnsettled,
  observeContent,
  observedFailure,
} from '../../../../src/sync/promote/cluster/observation.ts';
import { checkOf, later, NOW } from '../../../rollout/builders.ts';
import { clusterOf, contextOf, reportOf } from '../builders.ts';

const at = (seconds: number): string => later(seconds).toISOString();
const WORK = {
  digest: 'a1',
  state: 'Applied',
  reason: 'Applied',
  message: 'every object matches git',
  objects: { total: 1, applied: 1, pruned: 0, failed: 0 },
  failures: [],
} as const;
const HEALTHY = { digest: 'a1', observedAt: NOW, answer: 'Settled', because: 'healthy' } as const;
const PROGRESSING = {
  ...HEALTHY,
  answer: 'Progressing',
  reason: 'RollingOut',
  because: 'rolling out',
} as const;

const WAITS = { object: 'ConfigMap default/a', reason: 'UnitNotReady', message: 'web waits' };

function observe(
  report: Partial<ClusterReport> = {},
  soak: NonNullable<Parameters<typeof observeContent>[1]['sync']['soak']> = {},
  now = NOW,
): ReturnType<typeof observeContent> {
  const sync = { commit: 'c1', renderedDigest: 'a1', soak };
  return observeContent(
    { cluster: clusterOf({}, sync), report: reportOf({ work: WORK, health: HEALTHY, ...report }) },
    { sync, digest: 'a1' },
    { ...contextOf(), now },
    { soakSeconds: 60, checks: [checkOf({ name: 'errors' })] },
  );
}

describe('findObstacle', () => {
  it('S13 lets a newer commit in when a unit has waited too long, and names the object that it waits for', () => {
    const blocker = { kind: 'Deployment', name: 'db' };
    const work = { ...WORK, state: 'Applying', reason: 'UnitNotReady', blocker } as const;
    const after = (seconds: number): ReturnType<typeof findObstacle> =>
      findObstacle(
        observe(
          { work, health: { ...PROGRESSING, observedAt: later(seconds) } },
          { startedAt: at(0) },
          later(seconds),
        ),
      );
    expect(after(0)).toMatchObject({ failing: false, blocker, lateAt: later(600) });
    expect(after(601)).toMatchObject({ failing: true });
  });

  it.each<[name: string, report: Partial<ClusterReport>, expected: string | undefined]>([
    ['nothing', {}, undefined],
    ['no work on this content', { work: { ...WORK, digest: 'a2' } }, 'Applying'],
    ['a held plan', { work: { ...WORK, state: 'Held', reason: 'DeletesHeld' } }, 'DeletesHeld failing'],
    ['an apply in progress', { work: { ...WORK, state: 'Applying', reason: 'Waiting' } }, 'Waiting'],
    [
      'a unit that waits for another, as for an object that is not healthy',
      { work: { ...WORK, state: 'Applying', reason: 'UnitNotReady', failures: [WAITS] } },
      'UnitNotReady',
    ],
    [
      'a unit that waits for one that cannot be read',
      {
        work: { ...WORK, state: 'Applying', reason: 'UnitNotReady', failures: [WAITS] },
        health: { ...PROGRESSING, answer: 'Unknown', reason: 'Unreadable' },
      },
      'UnitNotReady failing',
    ],
    [
      'a paused unit that the commit changes',
      { work: { ...WORK, state: 'Applying', reason: 'UnitPaused' } },
      'UnitPaused failing',
    ],
    [
      'a paused object that the commit changes',
      { work: { ...WORK, state: 'Applying', reason: 'ObjectPaused' } },
      'ObjectPaused failing',
    ],
    [
      'an apply with errors',
      {
        work: { ...WORK, state: 'Applying', reason: 'ServerError', objects: { ...WORK.objects, failed: 1 } },
      },
      'ServerError failing',
    ],
    [
      'an object that a finalizer keeps',
      {
        work: {
          ...WORK,
          state: 'Applying',
          reason: 'Terminating',
          failures: [{ object: 'ConfigMap default/a', reason: 'Terminating', message: 'being deleted' }],
        },
      },
      'Terminating failing',
    ],
    [
      'differences while nothing may be written',
      {
        work: {
          ...WORK,
          state: 'Applying',
          reason: 'NotWritten',
          failures: [{ object: 'ConfigMap default/a', reason: 'NotWritten', message: 'create' }],
        },
      },
      'NotWritten',
    ],
    ['drift', { synced: { status: 'False', reason: 'Drift', message: '' } }, 'Drift'],
    ['health of other content', { health: { ...HEALTHY, digest: 'a2' } }, 'HealthUnknown'],
    [
      'health that was observed too long ago',
      { health: { ...HEALTHY, observedAt: later(-121) } },
      'HealthUnknown',
    ],
    [
      'a view that was lost',
      { health: { ...PROGRESSING, answer: 'Unknown', reason: 'ViewLost' } },
      'HealthUnknown',
    ],
    [
      'an object that cannot be read',
      { health: { ...PROGRESSING, answer: 'Unknown', reason: 'Unreadable' } },
      'HealthUnknown failing',
    ],
    ['an object that is not healthy', { health: PROGRESSING }, 'RollingOut'],
  ])('decides for %s: %s', (_, report, expected) => {
    const obstacle = findObstacle(observe(report));
    expect(obstacle && `${obstacle.reason}${obstacle.failing ? ' failing' : ''}`).toBe(expected);
  });

  it('SAF-3 names the object that cannot be read, and why', () => {
    const because = 'Widget part: it cannot be read: list widgets: forbidden';
    const blocker = { kind: 'Widget', name: 'part' };
    const found = findObstacle(
      observe({ health: { ...PROGRESSING, answer: 'Unknown', reason: 'Unreadable', because, blocker } }),
    );
    expect(found).toEqual({ reason: 'HealthUnknown', failing: true, because, blocker });
  });

  it.each<[name: string, startedAt: number, expected: string | undefined]>([
    ['from before the commit was assigned', 1, 'Applying'],
    ['of the moment in which it was assigned', 0, undefined],
    ['from before a clock that was set back', 100, undefined],
  ])('proves nothing by an observation %s', (_, startedAt, expected) => {
    const found = observe({}, { startedAt: at(startedAt) }, later(5));
    expect([found.work, found.health].map((part) => part === undefined)).toEqual([!!expected, !!expected]);
    expect(findObstacle(found)?.reason).toBe(expected);
  });

  it.each<[name: string, hasDeadline: boolean, startedAt: number, expected: object]>([
    ['has a late time', false, -599, { lateAt: later(1) }],
    ['is late after ten minutes', false, -600, { failing: true }],
    ['is never late if its controller has a deadline', true, -9999, {}],
  ])('finds that an object that is not healthy %s', (_, hasDeadline, startedAt, expected) => {
    const obstacle = findObstacle(
      observe({ health: { ...PROGRESSING, hasDeadline } }, { startedAt: at(startedAt) }),
    );
    expect(obstacle).toEqual({ reason: 'RollingOut', because: 'rolling out', ...expected });
  });
});

describe('observedFailure', () => {
  it.each<[name: string, report: Partial<ClusterReport>, expected: string | undefined]>([
    ['healthy content', {}, undefined],
    ['a failed apply', { work: { ...WORK, state: 'Failed', reason: 'Invalid' } }, 'Invalid'],
    ['a failed object', { health: { ...PROGRESSING, answer: 'Failed', reason: 'Crash' } }, 'Crash'],
    ['a failed apply of other content', { work: { ...WORK, state: 'Failed', digest: 'a2' } }, undefined],
  ])('decides for %s: %s', (_, report, expected) => {
    expect(observedFailure(observe(report))?.reason).toBe(expected);
  });

  it('finds a check over its limit', () => {
    const gates = [{ name: 'errors', ranAt: at(-1), failures: 1, message: '7 errors' }];
    expect(observedFailure(observe({}, { gates }))).toEqual({
      reason: 'CheckFailed',
      because: 'check errors: 7 errors',
    });
  });
});

describe('isObservedUnsettled', () => {
  const settled = { settledAt: at(-60) };
  const unsynced = { synced: { status: 'False', reason: 'Drift', message: '' } } as const;

  it.each<[name: string, report: Partial<ClusterReport>, soak: object, expected: boolean]>([
    ['healthy content', {}, settled, false],
    ['progressing content', { health: PROGRESSING }, settled, true],
    ['progressing content that never settled', { health: PROGRESSING }, {}, false],
    ['content that is not in sync', unsynced, settled, true],
    ['content that was not observed', { health: { ...HEALTHY, observedAt: later(-500) } }, settled, false],
  ])('decides for %s: %s', (...[, report, soak, expected]) => {
    expect(isObservedUnsettled(observe(report, soak))).toBe(expected);
  });
});
