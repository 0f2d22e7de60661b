import { describe, expect, it } from 'vitest';
import { createStageMember, isUnproven } from '../../../../src/sync/promote/cluster/stage-member.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { clusterOf, contextOf, memberOf, reportOf, snapshotOf } from '../builders.ts';
import { stageOf } from '../simulation/simulation.ts';

const STAGE = stageOf({ name: 'prod', soakSeconds: 60 });
const at = (seconds: number): string => later(seconds).toISOString();
const SOAKING = {
  commit: 'c2',
  renderedDigest: 'a2',
  soak: {
    startedAt: at(-100),
    settledAt: at(-90),
    observedAt: at(0),
    clocks: [{ unit: 'a', digest: 'a2', since: at(-90) }],
  },
};
const HEALTHY = {
  commits: ['c2'],
  work: {
    digest: 'a2',
    state: 'Applied',
    reason: 'Applied',
    message: '',
    objects: { total: 1, applied: 1, pruned: 0, failed: 0 },
    failures: [],
  },
  health: { digest: 'a2', observedAt: NOW, answer: 'Settled', because: 'all 1 objects are healthy' },
} as const;

describe('createStageMember', () => {
  it('proves a cluster that was observed healthy for the whole soak', () => {
    const { progress, hasStarted } = createStageMember(snapshotOf(SOAKING, HEALTHY), STAGE, contextOf());
    expect([progress.state, hasStarted]).toEqual(['Proven', true]);
  });

  it.each([
    [
      'while it is unreachable',
      { cluster: clusterOf({}, SOAKING), report: reportOf({ ...HEALTHY, reachable: false }) },
    ],
    [
      'while another cluster answers',
      { cluster: clusterOf({}, SOAKING), report: reportOf({ ...HEALTHY, identity: 'Mismatch' as const }) },
    ],
    ['before the first report', { cluster: clusterOf({}, SOAKING) }],
  ])('goes by the record alone %s', (_, snapshot) => {
    const { progress } = createStageMember(snapshot, STAGE, contextOf());
    expect([progress.state, progress.because]).toEqual(['Soaking', 'not observed recently']);
  });

  it('observes a paused cluster', () => {
    const snapshot = { cluster: clusterOf({ paused: true }, SOAKING), report: reportOf(HEALTHY) };
    const { progress, block } = createStageMember(snapshot, STAGE, contextOf());
    expect([progress.state, block?.state]).toEqual(['Proven', 'Paused']);
  });

  it('soaks failed content again once its failure is acknowledged and it is healthy', () => {
    const failed = [
      { digest: 'a2', commit: 'c2', failedAt: at(-30), reason: 'Crash', message: 'it crashed' },
    ];
    const { clocks: _clocks, ...soak } = SOAKING.soak;
    const snapshot = snapshotOf({ ...SOAKING, soak, failed }, HEALTHY);
    const acknowledged = contextOf({ acknowledged: new Set(['a2']) });
    expect(createStageMember(snapshot, STAGE, contextOf()).progress.state).toBe('Failed');
    expect(createStageMember(snapshot, STAGE, acknowledged).progress).toMatchObject({
      state: 'Soaking',
      because: 'soaks as a whole after an acknowledged failure (it crashed)',
    });
  });
});

describe('isUnproven', () => {
  it.each([
    ['NotStarted', false],
    ['Applying', true],
    ['Soaking', true],
    ['Held', true],
    ['Proven', false],
    ['Failed', false],
  ] as const)('in %s: %s', (state, expected) => {
    const { progress } = memberOf();
    expect(isUnproven(memberOf({ progress: { ...progress, state } }))).toBe(expected);
  });
});
