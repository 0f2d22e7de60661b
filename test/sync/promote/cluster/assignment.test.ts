import { describe, expect, it } from 'vitest';
import { renamedSync, startedSync } from '../../../../src/sync/promote/cluster/assignment.ts';
import type { ClusterRollout } from '../../../../src/sync/promote/cluster/rollout.ts';
import { orderReleases } from '../../../../src/sync/promote/release/order.ts';
import { NOW } from '../../../rollout/builders.ts';
import { contextOf, memberOf, releaseOf } from '../builders.ts';

const context = contextOf();
const [first, second] = orderReleases([releaseOf('c1'), releaseOf('c2')], context.history);
if (!first || !second) throw new Error('expected two Releases');
const RECORDED = { commit: 'c1', renderedDigest: 'a1', release: 'fleet-c1', stage: 'test' };

function rollout(more: Partial<ClusterRollout> = {}, sync = RECORDED as object): ClusterRollout {
  const member = memberOf({ progress: { ...memberOf().progress, state: 'Proven', sync } });
  return {
    member,
    state: 'NotStarted',
    hasContent: false,
    digest: 'a2',
    reason: 'Pending',
    because: '',
    ...more,
  };
}

describe('startedSync', () => {
  it('records the commit with a new soak, before anything is written', () => {
    const failures = [{ object: 'ConfigMap/a' }];
    expect(startedSync(rollout({}, { ...RECORDED, failures }), 'prod', second, context)).toEqual({
      commit: 'c2',
      renderedDigest: 'a2',
      release: 'fleet-c2',
      stage: 'prod',
      soak: { startedAt: NOW.toISOString(), clocks: [] },
    });
  });

  it('keeps the clocks of unchanged units', () => {
    const clocks = [{ unit: 'a', digest: 'a2', since: NOW.toISOString() }];
    const sync = { ...RECORDED, soak: { clocks, observedAt: NOW.toISOString() } };
    expect(startedSync(rollout({}, sync), 'prod', second, context).soak?.clocks).toEqual(clocks);
  });

  it('removes an acknowledged failure of the content', () => {
    const failed = [{ digest: 'a2', commit: 'c2', failedAt: '' }];
    expect(startedSync(rollout({}, { ...RECORDED, failed }), 'prod', second, context).failed).toEqual([]);
  });
});

describe('renamedSync', () => {
  const same = { hasContent: true, state: 'Proven' } as const;

  it('gives unchanged content the name of the newer commit', () => {
    expect(renamedSync(rollout(same), 'prod', second, context)).toEqual({
      ...RECORDED,
      commit: 'c2',
      release: 'fleet-c2',
      stage: 'prod',
    });
  });

  it.each([
    ['other content', {}, second],
    ['a blocked cluster', { ...same, state: 'Blocked' }, second],
    ['an older commit', { ...same, member: rollout({}, { ...RECORDED, commit: 'c2' }).member }, first],
  ] as const)('changes only the stage for %s', (_, more, release) => {
    const each = rollout(more);
    expect(renamedSync(each, 'prod', release, context)).toEqual({
      ...each.member.progress.sync,
      stage: 'prod',
    });
  });
});
