import { describe, expect, it } from 'vitest';
import { clusterRollout, skipsSoak, usesSlot } from '../../../../src/sync/promote/cluster/rollout.ts';
import type { ProgressState } from '../../../../src/sync/promote/cluster/rollout-state.ts';
import type { StageMember } from '../../../../src/sync/promote/cluster/stage-member.ts';
import { createCommitHistory } from '../../../../src/sync/promote/commit-history.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { commitsOf, contextOf, memberOf } from '../builders.ts';
import { HOUR, MINUTE, PromotionSimulation, SECOND } from '../simulation/simulation.ts';

const BLOCKED = { state: 'Blocked', reason: 'IdentityMismatch', because: 'another cluster answers' } as const;
const PAUSED = { state: 'Paused', reason: 'Paused', because: 'x is paused' } as const;
const UNREACHABLE = { state: 'Unreachable', since: NOW, until: later(60), isGraceOver: false } as const;
const FAILED = [{ digest: 'a2', commit: 'c2', failedAt: '', reason: 'Crash', message: 'it crashed' }];

/** Runs `commit`, whose content is `a1` or `a2`, in that state. */
function member(state: ProgressState, commit: 'c1' | 'c2', more: Partial<StageMember> = {}): StageMember {
  const sync = { commit, renderedDigest: commit === 'c1' ? 'a1' : 'a2' };
  const progress = { state, sync, failing: false, dueChecks: [], reason: state, because: `it is ${state}` };
  return memberOf({ progress, recorded: sync, ...more });
}

function failedBefore(failed = FAILED): StageMember {
  const sync = { commit: 'c1', renderedDigest: 'a1', failed };
  return memberOf({ progress: { ...member('Proven', 'c1').progress, sync } });
}

describe('clusterRollout', () => {
  it.each<[name: string, member: StageMember, commit: string, expected: string]>([
    ['a cluster without a commit', memberOf(), 'c2', 'NotStarted: waits for a slot'],
    ['a cluster on an older commit', member('Proven', 'c1'), 'c2', 'NotStarted: waits for a slot'],
    ['a cluster on the commit', member('Soaking', 'c2'), 'c2', 'Soaking: it is Soaking'],
    ['a cluster on a newer commit', member('Proven', 'c2'), 'c1', 'Ahead: it runs c2, which is newer'],
    ['a failed cluster', member('Failed', 'c2'), 'c2', 'Failed: it is Failed'],
    [
      'content that failed before',
      failedBefore(),
      'c2',
      'FailedBefore: this content already failed on this cluster with c2: it crashed',
    ],
    [
      'content that failed after it was proven',
      failedBefore(FAILED.map((failure) => ({ ...failure, provenAt: '' }))),
      'c2',
      'NotStarted: waits for a slot',
    ],
    [
      'an unreachable cluster',
      member('Applying', 'c2', { reachability: UNREACHABLE }),
      'c2',
      'Unreachable: x has not answered since 2030-01-01T00:00:00.000Z',
    ],
    [
      'an unreachable cluster after the grace',
      member('Applying', 'c2', { reachability: { ...UNREACHABLE, isGraceOver: true } }),
      'c2',
      'Skipped: x has not answered since 2030-01-01T00:00:00.000Z',
    ],
    [
      'a cluster that was not observed',
      member('Applying', 'c2', { reachability: { state: 'Unknown' } }),
      'c2',
      'NotObserved: x was not observed yet',
    ],
    [
      'a block before a failure',
      member('Failed', 'c2', { block: BLOCKED }),
      'c2',
      'Blocked: another cluster answers',
    ],
    [
      'a pause before everything else',
      member('Proven', 'c2', { block: PAUSED }),
      'c2',
      'Paused: x is paused',
    ],
    [
      'a failure also while unreachable',
      member('Failed', 'c2', { reachability: UNREACHABLE }),
      'c2',
      'Failed: it is Failed',
    ],
    [
      'a newer commit also while unreachable',
      member('Proven', 'c2', { reachability: UNREACHABLE }),
      'c1',
      'Ahead: it runs c2, which is newer',
    ],
  ])('decides the state of %s', (_, each, commit, expected) => {
    const { state, because } = clusterRollout(each, commit, contextOf());
    expect(`${state}: ${because}`).toBe(expected);
  });

  it('counts a failure of older content before a newer commit', () => {
    const failed = [{ digest: 'a1', commit: 'c1', failedAt: '', message: 'it crashed' }];
    const sync = { commit: 'c2', renderedDigest: 'a2', failed };
    const each = memberOf({ progress: { ...member('Proven', 'c2').progress, sync } });
    expect(clusterRollout(each, 'c1', contextOf()).state).toBe('FailedBefore');
  });

  it('cannot start a commit that is not rendered', () => {
    const history = createCommitHistory([...commitsOf({ x: 'a1' }), { id: 'c2' }]);
    expect(clusterRollout(member('Proven', 'c1'), 'c2', contextOf({ history }))).toMatchObject({
      state: 'NotRendered',
      because: 'the commit is not rendered for x any more',
    });
  });

  it('starts content that failed before once the failure is acknowledged', () => {
    const context = contextOf({ acknowledged: new Set(['a2']) });
    expect(clusterRollout(failedBefore(), 'c2', context).state).toBe('NotStarted');
  });
});

describe('usesSlot', () => {
  it.each<[progress: ProgressState, recorded: string, hasStarted: boolean, expected: boolean]>([
    ['Applying', 'Applying', true, true],
    ['Soaking', 'Soaking', true, true],
    ['Held', 'Held', false, true],
    ['Applying', 'Unreachable', true, true],
    ['Applying', 'Paused', true, false],
    ['Applying', 'Skipped', true, false],
    ['Applying', 'Ahead', true, true],
    ['Applying', 'Ahead', false, false],
    ['Proven', 'Proven', true, false],
    ['Failed', 'Failed', true, false],
  ])(
    'of a cluster in %s that is recorded as %s (started: %s): %s',
    (progress, recorded, hasStarted, expected) => {
      const base = member(progress, 'c2');
      const state = recorded as 'Applying';
      const each = { ...base, hasStarted, recorded: { ...base.recorded, state } };
      expect(usesSlot(clusterRollout(each, 'c2', contextOf()))).toBe(expected);
    },
  );
});

describe('skipsSoak', () => {
  it.each<[name: string, member: StageMember, expected: boolean]>([
    ['the commit that is proven', member('Proven', 'c2'), true],
    ['the commit that soaks', member('Soaking', 'c2'), false],
    ['new content', member('Proven', 'c1'), false],
    ['content that failed before', failedBefore(), false],
  ])('decides for %s: %s', (_, each, expected) => {
    const context = contextOf();
    expect(skipsSoak(clusterRollout(each, 'c2', context), 'c2', context)).toBe(expected);
  });

  it('skips the soak of content that was proven before', () => {
    const context = contextOf();
    const sync = { commit: 'c2', renderedDigest: 'a2', proven: [{ digest: 'a1', commit: 'c1' }] };
    const each = memberOf({ progress: { ...member('Soaking', 'c2').progress, sync } });
    expect(
      skipsSoak({ ...clusterRollout(each, 'c1', context), digest: 'a1', hasContent: false }, 'c1', context),
    ).toBe(true);
  });
});

describe('S38 never rolls back a cluster that moves to a stage behind it', () => {
  it('is Ahead, keeps its commit, and counts again once the stage has caught up', () => {
    const stages = [
      { name: 'test', soakSeconds: 60 },
      { name: 'prod', soakSeconds: 60 },
    ];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(20 * MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(100 * SECOND);
    sim.cluster('test-1').environment = 'prod';
    sim.settle();
    expect(sim.cluster('test-1').status?.sync).toMatchObject({
      stage: 'prod',
      commit: 'c2',
      state: 'Ahead',
    });
    sim.run(HOUR);
    expect(sim.cluster('test-1').status?.sync?.state).toBe('Proven');
    expect(sim.writes.filter(({ cluster }) => cluster === 'test-1').map(({ commit }) => commit)).toEqual([
      'c1',
      'c2',
    ]);
  });
});
