import { describe, expect, it } from 'vitest';
import {
  absenceText,
  noClustersText,
  unreadOf,
  unreadParts,
  unreadPartsText,
} from '../../../src/console/state/unread.ts';
import { clusterLine } from '../fixtures.ts';

const REFUSED = 'retrying: connection refused';
const CLUSTERS = {
  b: clusterLine('b', { order: 1, stale: REFUSED }),
  a: clusterLine('a', { stale: REFUSED }),
  c: clusterLine('c', { order: 2 }),
  d: clusterLine('d', { order: 3, stale: 'no context d' }),
};

describe('unreadParts', () => {
  it('has the clusters that are not read in their order, then the hub', () => {
    const text = `hub: ${REFUSED}`;
    const notes = {
      [text]: { text, bad: true, unread: 'hub' },
      other: { text: 'WipeDisk waits for a person', bad: true },
    };
    const unread = unreadParts({ clusters: CLUSTERS, notes });
    expect(unread.map(({ name }) => name)).toEqual(['a', 'b', 'd', 'hub']);
    expect(unreadPartsText(unread)).toBe(`a, b and hub (${REFUSED}); d (no context d)`);
    expect(unreadOf(unread, 'd')).toEqual([{ name: 'd', reason: 'no context d' }]);
    expect(unreadOf(unread, 'c')).toEqual([]);
    expect(unreadOf(unread, undefined)).toEqual(unread);
  });

  it('has nothing where every cluster is read', () => {
    expect(unreadParts({ clusters: { c: CLUSTERS.c }, notes: {} })).toEqual([]);
  });
});

it('states that something does not exist only of what is read', () => {
  expect(absenceText('No repairs', [])).toBe('No repairs.');
  expect(absenceText('No repairs', [{ name: 'a', reason: REFUSED }])).toBe(
    'No repairs in the clusters that are read.',
  );
  expect(noClustersText([])).toBe('No clusters yet.');
  expect(noClustersText([{ name: 'hub', reason: REFUSED }])).toBe(
    'No clusters are shown: the hub is not read.',
  );
});
