import { describe, expect, it } from 'vitest';
import { isFinal, releaseStatus, type StageFinding } from '../../../../src/sync/promote/release/status.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { releaseOf } from '../builders.ts';

const WAIT = { reason: 'StageFull', because: 'clusters busy in prod: 1, allowed: 1' };

function findings(text: string): readonly StageFinding[] {
  return text.split(' ').map((word): StageFinding => {
    const [name = '', state = ''] = word.split('=');
    return { name, state: state as StageFinding['state'], ...(state === 'Waiting' ? { wait: WAIT } : {}) };
  });
}

describe('releaseStatus', () => {
  it.each<[stages: string, phase: string, conditions: string]>([
    [
      'test=Pending prod=Pending',
      'Waiting',
      'Progressing=False Succeeded=False Superseded=False Stalled=False',
    ],
    [
      'test=Promoting prod=Pending',
      'Promoting',
      'Progressing=True Succeeded=False Superseded=False Stalled=False',
    ],
    [
      'test=Proven prod=Waiting',
      'Waiting',
      'Progressing=False Succeeded=False Superseded=False Stalled=False',
    ],
    [
      'test=Proven prod=Proven',
      'Succeeded',
      'Progressing=False Succeeded=True Superseded=False Stalled=False',
    ],
  ])('calls a Release with %s %s', (stages, phase, conditions) => {
    const status = releaseStatus(releaseOf('c1'), { stages: findings(stages), failed: [] }, NOW);
    expect(status.phase).toBe(phase);
    expect(status.conditions.map((each) => `${each.type}=${each.status}`).join(' ')).toBe(conditions);
  });

  it('is Superseded by a newer Release, and names it', () => {
    const finding = { stages: findings('test=Superseded'), failed: [], supersededBy: 'fleet-c2' };
    const status = releaseStatus(releaseOf('c1'), finding, NOW);
    expect(status).toMatchObject({
      phase: 'Superseded',
      supersededBy: 'fleet-c2',
      finishedAt: NOW.toISOString(),
    });
  });

  it('is Stalled, with the reason, until it is finished', () => {
    const stalled = { reason: 'TooManySkipped', because: 'clusters unreachable in prod: 3, allowed: 1' };
    const status = (stages: string) =>
      releaseStatus(releaseOf('c1'), { stages: findings(stages), failed: [], stalled }, NOW);
    expect(status('prod=Promoting').phase).toBe('Stalled');
    expect(status('prod=Proven').phase).toBe('Succeeded');
  });

  it('never changes a final stage', () => {
    const release = releaseOf('c1', 'test=Proven prod=Superseded');
    const { stages } = releaseStatus(
      release,
      { stages: findings('test=Failed prod=Promoting'), failed: [] },
      NOW,
    );
    expect(stages?.map(({ state }) => state)).toEqual(['Proven', 'Superseded']);
    expect([isFinal({ state: 'Proven' }), isFinal({ state: 'Failed' })]).toEqual([true, false]);
  });

  it('records when a stage started, was proven, and since when it waits', () => {
    const first = releaseStatus(
      releaseOf('c1'),
      { stages: findings('test=Promoting prod=Waiting'), failed: [] },
      NOW,
    );
    const release = { ...releaseOf('c1'), status: first };
    const second = releaseStatus(
      release,
      { stages: findings('test=Proven prod=Waiting'), failed: [] },
      later(60),
    );
    expect(second.stages?.[0]).toMatchObject({
      startedAt: NOW.toISOString(),
      provenAt: later(60).toISOString(),
    });
    expect(second.stages?.[1]?.waiting).toMatchObject({ reason: 'StageFull', since: NOW.toISOString() });
    expect(second.startedAt).toBe(NOW.toISOString());
  });

  it('DAT-04 keeps when a stage first failed, also when it recovers or is superseded', () => {
    const failed = releaseStatus(releaseOf('c1'), { stages: findings('prod=Failed'), failed: [] }, NOW);
    expect(failed.stages?.[0]).toMatchObject({ failedAt: NOW.toISOString() });
    for (const state of ['Soaking', 'Failed', 'Superseded']) {
      const release = { ...releaseOf('c1'), status: failed };
      const status = releaseStatus(release, { stages: findings(`prod=${state}`), failed: [] }, later(60));
      expect(status.stages?.[0]).toMatchObject({ state, failedAt: NOW.toISOString() });
    }
    const good = releaseStatus(releaseOf('c1'), { stages: findings('prod=Soaking'), failed: [] }, NOW);
    expect(good.stages?.[0]).not.toHaveProperty('failedAt');
  });
});
