import { describe, expect, it } from 'vitest';
import { planRounds } from './rounds.ts';

const options = { seed: 7, isLong: false, isShort: false };

describe('the rounds of a run', () => {
  it.each([
    ['30 breakages', options, [30]],
    ['10 in CI', { ...options, isShort: true }, [10]],
    ['more in a long run', { ...options, isShort: true, isLong: true }, [30, 30, 30, 30, 30, 30, 30, 30]],
  ])('have %s', (_, given, counts) => {
    expect(planRounds(given).map(({ sequence }) => sequence.length)).toEqual(counts);
  });

  it('have a seed of their own each, which their titles name', () => {
    const [first, second] = planRounds({ ...options, isLong: true });
    expect(first?.title).toBe('30 random breakages of a real node (seed 7)');
    expect(second).toEqual({
      ...planRounds({ ...options, seed: 8 })[0],
      title: '30 random breakages of a real node (seed 8)',
    });
    expect(second?.sequence).not.toEqual(first?.sequence);
  });

  it('have the chosen breakages in their order, and refuse an unknown one', () => {
    expect(planRounds({ ...options, only: ['reboot', 'kill-all'] })[0]?.sequence.map(({ id }) => id)).toEqual(
      ['reboot', 'kill-all'],
    );
    expect(() => planRounds({ ...options, only: ['kill-nothing'] })).toThrow(
      'there is no breakage kill-nothing: choose from kill-kubelet, ',
    );
  });

  it('have nothing in CI that takes minutes', () => {
    const slow = Array.from({ length: 100 }, (_, seed) => planRounds({ ...options, seed, isShort: true }))
      .flat()
      .flatMap(({ sequence }) => sequence.filter(({ withinSeconds }) => withinSeconds !== undefined));
    expect(slow).toEqual([]);
  });
});
