import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  closedLabelSets,
  createLabelBounds,
  type LabelLimits,
  maximumSeries,
  seriesLimit,
} from '../../../src/kube/process/label-bounds.ts';

const NAMES = { of: 'names', most: 3 };
const STATES = ['Up', 'Down'];

describe('the bounds of labels', () => {
  it.each<[name: string, limits: LabelLimits, kept: number, most: number]>([
    ['no label', {}, 1, 1],
    ['a closed list, with other', { labels: { state: STATES } }, 2, 3],
    ['names, and all others together', { labels: { name: NAMES } }, 3, 4],
    ['names by state', { labels: { name: NAMES, state: STATES } }, 6, 9],
    ['fewer than the product', { labels: { name: NAMES, state: STATES }, maxSeries: 4 }, 4, 7],
    ['the limit of every metric', { labels: { name: { of: 'x', most: 9999 } } }, 500, 501],
  ])('are those of %s', (_, limits, kept, most) => {
    expect([seriesLimit(limits), maximumSeries(limits)]).toEqual([kept, most]);
  });

  it('keep values of closed lists beyond the limit, and no other value', () => {
    const bounds = createLabelBounds({ labels: { name: NAMES, state: STATES }, maxSeries: 1 });
    expect(bounds.join({ name: 'a', state: 'Up' })).toEqual({ name: 'a', state: 'Up' });
    expect(bounds.join({ name: 'b', state: 'Up' })).toEqual({ name: 'other', state: 'Up' });
    expect(bounds.join({ name: 'b', state: 'Sideways' })).toEqual({ name: 'other', state: 'other' });
    expect(bounds.keep({ name: 'b', state: 'Up' })).toBeUndefined();
  });

  it('give a place to another label set once one is forgotten', () => {
    const bounds = createLabelBounds({ labels: { name: { of: 'names', most: 1 } } });
    expect(bounds.keep({ name: 'a' })).toEqual({ name: 'a' });
    expect(bounds.keep({ name: 'b' })).toBeUndefined();
    bounds.forget({ name: 'a' });
    expect(bounds.keep({ name: 'b' })).toEqual({ name: 'b' });
  });

  it('cut a value that is longer than any name, and drop labels that are not declared', () => {
    const bounds = createLabelBounds({ labels: { name: NAMES } });
    const kept = bounds.join({ name: 'x'.repeat(100_000), machine: 'm-1' });
    expect(Object.keys(kept)).toEqual(['name']);
    expect(kept['name']).toHaveLength(253);
  });

  it('never let through more series than they promise, whatever the texts are', () => {
    const labels = { name: NAMES, state: STATES };
    const any = fc.record({ name: fc.string(), state: fc.oneof(fc.constantFrom(...STATES), fc.string()) });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 60 }), (sets) => {
        const bounds = createLabelBounds({ labels, maxSeries: 4 });
        const joined = new Set(sets.map((each) => JSON.stringify(bounds.join(each))));
        expect(joined.size).toBeLessThanOrEqual(maximumSeries({ labels, maxSeries: 4 }));
      }),
    );
  });

  it('list label sets that begin at zero: only where every label has a short list', () => {
    expect(closedLabelSets({ labels: { state: STATES } })).toEqual([{ state: 'Up' }, { state: 'Down' }]);
    expect(closedLabelSets({ labels: { state: STATES, name: NAMES } })).toEqual([]);
    expect(closedLabelSets({ labels: { state: Array.from({ length: 21 }, String) } })).toEqual([]);
    expect(closedLabelSets({})).toEqual([]);
  });
});
