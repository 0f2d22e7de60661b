import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../../src/api/generated/types.ts';
import { askedApproval, planRolloutApproval } from '../../../../src/cli/commands/rollout/approve.ts';
import { unblockOf } from '../../../../src/views/rollout/unblock.ts';
import { STORIES, type Story } from './stories.ts';

const GATE = { soakSeconds: 300, checks: [], approval: 'FirstBatch' } as const;

function withRollout(story: Story, rollout: Partial<Rollout> = { gate: GATE }) {
  const set = STORIES[story];
  return { ...set, spec: { ...set.spec, rollout: { ...set.spec.rollout, ...rollout } } };
}

describe('askedApproval', () => {
  it('counts batches from 1, as rollout show does, and from 0 in the set', () => {
    expect(askedApproval({ throughBatch: 3 })).toEqual({ throughBatch: 2 });
    expect(askedApproval({})).toEqual({});
  });
});

describe('planRolloutApproval', () => {
  it('ROL-02 approves the batch that waits, of the revision that waits', () => {
    expect(planRolloutApproval(withRollout('an approval'), {})).toEqual({
      revision: 'r-5d41402a',
      throughBatch: 0,
    });
  });

  it('ROL-02 approves for a canary that holds', () => {
    const held = withRollout('an approval', { canary: { count: 1, hold: true } });
    expect(planRolloutApproval(held, {}).throughBatch).toBe(0);
  });

  it('approves in advance only as far as is named', () => {
    expect(planRolloutApproval(withRollout('a soak'), { throughBatch: 3 }).throughBatch).toBe(3);
  });

  it('ROL-30 offers no approval in advance where the rollout has stopped, but what continues it', () => {
    const stopped = withRollout('a spent failure budget');
    expect(() => planRolloutApproval(stopped, {})).toThrow(
      'does not wait for an approval: machines failed: 2',
    );
    expect(() => planRolloutApproval(stopped, {})).toThrow(
      expect.objectContaining({ hint: unblockOf(STORIES['a spent failure budget']) }),
    );
  });

  const GATED = { gate: GATE };

  it.each<[string, Story, { rollout?: Partial<Rollout>; asked?: object }, string]>([
    ['a set that asks for no approval', 'an approval', { rollout: {} }, 'asks for no approval'],
    ['one that does not wait', 'a soak', {}, 'does not wait for an approval'],
    ['another revision than was reviewed', 'an approval', { asked: { revision: 'r-0' } }, 'not r-0'],
    ['one that was not observed', 'no status', { asked: { throughBatch: 0 } }, 'has no revision yet'],
    [
      'one whose last change was not observed',
      'an end of the spec before',
      { asked: { throughBatch: 0 } },
      'no revision',
    ],
    [
      'what is approved already',
      'an approval',
      { rollout: { ...GATED, approved: { revision: 'r-5d41402a', throughBatch: 0 } } },
      'approved through batch 1 already',
    ],
  ])('refuses %s, with the reason', (_, story, { rollout = GATED, asked = {} }, why) => {
    expect(() => planRolloutApproval(withRollout(story, rollout), asked)).toThrow(why);
  });
});
