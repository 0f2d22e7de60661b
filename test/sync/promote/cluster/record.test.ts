import { describe, expect, it } from 'vitest';
import { withCorrection } from '../../../../src/sync/drift-history.ts';
import { stateSince, withReport } from '../../../../src/sync/promote/cluster/record.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { correctionAt } from '../../drift-builders.ts';
import { memberOf, snapshotOf } from '../builders.ts';

const at = (seconds: number): string => later(seconds).toISOString();

describe('stateSince', () => {
  const unreachable = {
    state: 'Unreachable',
    since: later(-90),
    until: later(30),
    isGraceOver: false,
  } as const;

  it.each([
    ['the recorded time of the same state', 'Proven', { recorded: { state: 'Proven', since: at(-60) } }, -60],
    ['now for a new state', 'Failed', { recorded: { state: 'Proven', since: at(-60) } }, 0],
    ['the last contact of an unreachable cluster', 'Unreachable', { reachability: unreachable }, -90],
    ['the last contact of a skipped cluster', 'Skipped', { reachability: unreachable }, -90],
  ] as const)('is %s', (_, state, member, expected) => {
    expect(stateSince(memberOf(member), state, NOW)).toBe(at(expected));
  });
});

describe('withReport', () => {
  const OBJECTS = { total: 30, applied: 5, pruned: 0, failed: 25 };
  const failure = {
    object: 'ConfigMap/a',
    unit: 'web',
    reason: 'Invalid',
    message: 'spec.replicas: must be a number',
  };
  const BEFORE = { ...failure, object: 'ConfigMap/before' };
  const FAILED_HEALTH = {
    answer: 'Failed',
    reason: 'X',
    because: 'x',
    digest: 'a1',
    observedAt: NOW,
  } as const;
  const WORK = { digest: 'a1', state: 'Failed', reason: 'Invalid', message: '', objects: OBJECTS } as const;

  it('records counts and at most 20 failures of the same content', () => {
    const work = { ...WORK, failures: Array.from({ length: 25 }, () => failure) };
    const member = memberOf({ snapshot: snapshotOf({}, { work }) });
    const sync = withReport({ renderedDigest: 'a1' }, member, NOW);
    expect([sync.objects, sync.failures?.length]).toEqual([OBJECTS, 20]);
    expect(withReport({ renderedDigest: 'a2' }, member, NOW)).toEqual({ renderedDigest: 'a2' });
  });

  it('records the units, and keeps them while they are not observed', () => {
    const observed = memberOf({ snapshot: snapshotOf({}, { units: ['db', 'web'] }) });
    expect(withReport({}, observed, NOW).units).toEqual(['db', 'web']);
    expect(withReport({ units: ['db'] }, memberOf({ snapshot: snapshotOf({}, {}) }), NOW).units).toEqual([
      'db',
    ]);
  });

  it('removes failures that are solved', () => {
    const member = memberOf({ snapshot: snapshotOf({}, { work: { ...WORK, failures: [] } }) });
    expect(withReport({ renderedDigest: 'a1', failures: [failure] }, member, NOW).failures).toBeUndefined();
  });

  it.each([
    [
      'records the objects that failed after the apply',
      { health: FAILED_HEALTH, unhealthy: [failure] },
      [failure],
    ],
    ['removes those that are healthy again', { health: FAILED_HEALTH, unhealthy: [] }, undefined],
    ['keeps them while health is not observed', {}, [BEFORE]],
    ['keeps them while other content is observed', { health: { ...FAILED_HEALTH, digest: 'a2' } }, [BEFORE]],
  ] as const)('%s', (_, report, expected) => {
    const member = memberOf({ snapshot: snapshotOf({}, report) });
    const sync = { renderedDigest: 'a1', unhealthy: [BEFORE] };
    expect(withReport(sync, member, NOW).unhealthy).toEqual(expected);
  });

  it('records drift that was corrected, whatever content is compared', () => {
    const drift = withCorrection(undefined, correctionAt(-1));
    const member = memberOf({ snapshot: snapshotOf({}, { drift, work: { ...WORK, failures: [] } }) });
    expect(withReport({ renderedDigest: 'a2' }, member, NOW)).toEqual({ renderedDigest: 'a2', drift });
  });

  it.each([
    [undefined, -299, -299],
    [-299, 0, -299],
    [-300, 0, 0],
    [300, 0, 0],
  ])(
    'records, with the last contact recorded at %s and observed at %s: %s',
    (recorded, observed, expected) => {
      const member = memberOf({
        recorded: recorded === undefined ? {} : { lastContactAt: at(recorded) },
        snapshot: snapshotOf({}, { lastContactAt: later(observed) }),
      });
      expect(withReport({}, member, NOW).lastContactAt).toBe(at(expected));
    },
  );
});
