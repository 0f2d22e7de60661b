import { describe, expect, it } from 'vitest';
import { accessNotes } from '../../../src/console/feeds/access-notes.ts';

describe('accessNotes', () => {
  it('has none of clusters that are read with the rights of the person', () => {
    expect(
      accessNotes([
        { name: 'eu-1', by: 'context' },
        { name: 'hub', by: 'hub' },
      ]),
    ).toEqual({});
  });

  it('names the account of sync with the clusters that are read so', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(Object.keys(accessNotes(names.map((name) => ({ name, by: 'Secret' }))))).toEqual([
      'a, b, c, d, e and 2 more: read with the Secret of the hub, as the account of sync and not as you',
    ]);
  });

  it('names the clusters whose identity is not checked, as nothing that is bad', () => {
    expect(Object.values(accessNotes([{ name: 'eu-1', by: 'unchecked context' }]))).toEqual([
      {
        text:
          'eu-1: read by the context of that name, which is not checked to lead to the Cluster of the hub: ' +
          'you may not get the namespace kube-system there',
        bad: false,
      },
    ]);
  });
});
