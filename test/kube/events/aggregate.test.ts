import { describe, expect, it } from 'vitest';
import { createEventAggregator, isUnwritten } from '../../../src/kube/events/aggregate.ts';
import { machine, rebooted } from '../../support/kube/recorder-bed.ts';

const NOW = new Date('2030-01-01T12:00:00Z');

describe('createEventAggregator', () => {
  it('counts repeated occurrences in one entry', () => {
    const aggregator = createEventAggregator('kubenode.dev/machine');
    const first = aggregator.count(rebooted, NOW, 0);
    const later = new Date(NOW.getTime() + 5000);
    expect(aggregator.count(rebooted, later, 5000)).toBe(first);
    expect(first).toMatchObject({ count: 2, firstAt: NOW, lastAt: later, storedBefore: undefined });
    expect(aggregator.unwritten()).toEqual([first]);
  });

  it('drops the oldest written entry for a new one, and a new one when none is written', () => {
    const aggregator = createEventAggregator('kubenode.dev/machine');
    for (let n = 0; n < 1000; n += 1) aggregator.count({ ...rebooted, about: about(n) }, NOW, 0);
    expect(aggregator.count({ ...rebooted, about: about(1000) }, NOW, 0)).toBe('too many at once');
    const [oldest, second] = aggregator.unwritten();
    if (!oldest || !second) throw new Error('expected entries');
    second.written = second.count;
    expect(isUnwritten(second)).toBe(false);
    expect(aggregator.count({ ...rebooted, about: about(1000) }, NOW, 0)).toMatchObject({ count: 1 });
    expect(aggregator.get(second.key)).toBeUndefined();
    expect(aggregator.get(oldest.key)).toBe(oldest);
  });
});

function about(n: number): typeof machine {
  return { ...machine, metadata: { name: `m-${n}`, uid: `u-${n}` } };
}
