import { describe, expect, it } from 'vitest';
import type { HeadReport } from '../../../../src/sync/commits.ts';
import { MAX_REFUSED_HEADS, nextRefusals } from '../../../../src/sync/promote/history/refusals.ts';
import { later, NOW } from '../../../rollout/builders.ts';

const refused = (commit: string, message = 'm'): HeadReport => ({ commit, verdict: 'Refused', message });

describe('nextRefusals', () => {
  it.each<[name: string, head: HeadReport]>([
    ['an accepted head', { commit: 'c2', verdict: 'Accepted' }],
    ['a head that is rendered', { commit: 'c2', verdict: 'Rendering' }],
    ['an unknown head', { verdict: 'RenderFailed' }],
  ])('leaves the list as it is for %s', (_, head) => {
    const before = nextRefusals(undefined, refused('c1'), NOW);
    expect(nextRefusals(before, head, later(1))).toBe(before);
    expect(nextRefusals(undefined, head, NOW)).toBeUndefined();
  });

  it('forgets a head that is accepted after all: it is applied', () => {
    const before = nextRefusals(nextRefusals(undefined, refused('c1'), NOW), refused('c2'), later(1));
    const accepted = nextRefusals(before, { commit: 'c2', verdict: 'Accepted' }, later(2));
    expect(accepted?.map(({ commit }) => commit)).toEqual(['c1']);
  });

  it('puts the newest first, each once, with the time at which it was refused first', () => {
    const one = nextRefusals(undefined, { ...refused('c1'), observedAt: later(-5) }, NOW);
    const two = nextRefusals(one, refused('c2'), later(1));
    const again = nextRefusals(two, refused('c1', 'other'), later(2));
    expect(again).toEqual([
      { commit: 'c1', verdict: 'Refused', message: 'other', seenAt: later(-5).toISOString() },
      { commit: 'c2', verdict: 'Refused', message: 'm', seenAt: later(1).toISOString() },
    ]);
  });

  it('stays bounded', () => {
    let list: ReturnType<typeof nextRefusals>;
    for (let index = 0; index < MAX_REFUSED_HEADS + 5; index++) {
      list = nextRefusals(list, refused(`c${index}`), NOW);
    }
    expect(list).toHaveLength(MAX_REFUSED_HEADS);
    expect(list?.[0]?.commit).toBe(`c${MAX_REFUSED_HEADS + 4}`);
  });
});
