import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatFilter,
  formatTags,
  isOwnTag,
  matchesFilter,
  readTags,
} from '../../../src/providers/cloud/tags.ts';

const TAGS = { clusterUid: 'c', machineUid: 'm', set: 's' };
const LISTED = [
  { name: 'kubenode-cluster-uid', value: 'c' },
  { name: 'kubenode-machine-uid', value: 'm' },
  { name: 'kubenode-machine', value: 'n1' },
];

describe('formatTags', () => {
  it('has names that every cloud accepts', () => {
    const names = Object.keys(formatTags({ machine: 'n1', tags: TAGS }));
    expect(names).toEqual([
      'kubenode-cluster-uid',
      'kubenode-machine-uid',
      'kubenode-set',
      'kubenode-machine',
    ]);
    expect(names.filter((name) => !/^[a-z-]{1,128}$/.test(name))).toEqual([]);
  });

  it('is read again as it was written, with tags of others beside it', () => {
    const text = fc.string({ minLength: 1 });
    const tags = fc.record(
      { clusterUid: text, machineUid: text, set: text },
      { requiredKeys: ['clusterUid', 'machineUid'] },
    );
    fc.assert(
      fc.property(text, tags, (machine, wanted) => {
        const written = formatTags({ machine, tags: wanted });
        const listed = Object.entries(written).map(([name, value]) => ({ name, value }));
        expect(readTags([{ name: 'Name', value: 'other' }, ...listed])).toEqual({ machine, tags: wanted });
      }),
    );
  });
});

describe('readTags', () => {
  it.each(LISTED.map(({ name }) => name))(
    'finds none of our instances without %s, or with an empty one',
    (name) => {
      expect(readTags(LISTED.filter((tag) => tag.name !== name))).toBeUndefined();
      expect(readTags(LISTED.map((tag) => (tag.name === name ? { name, value: '' } : tag)))).toBeUndefined();
    },
  );

  it('reads an instance without a set', () => {
    expect(readTags(LISTED)).toEqual({ machine: 'n1', tags: { clusterUid: 'c', machineUid: 'm' } });
  });
});

describe('matchesFilter', () => {
  it.each([
    [{ clusterUid: 'c' }, true],
    [{ clusterUid: 'c', machineUid: 'm', set: 's' }, true],
    [{ clusterUid: 'd' }, false],
    [{ clusterUid: 'c', machineUid: 'n' }, false],
    [{ clusterUid: 'c', set: 't' }, false],
  ])('%j: %s', (filter, expected) => {
    expect(matchesFilter({ tags: TAGS }, filter)).toBe(expected);
  });

  it('never finds an instance without a set by a set', () => {
    expect(matchesFilter({ tags: { clusterUid: 'c', machineUid: 'm' } }, { clusterUid: 'c', set: 's' })).toBe(
      false,
    );
  });
});

describe('formatFilter', () => {
  it('asks for the tags that the filter names', () => {
    expect(formatFilter({ clusterUid: 'c' })).toEqual({ 'kubenode-cluster-uid': 'c' });
  });
});

describe('isOwnTag', () => {
  it.each([
    ['kubenode-set', true],
    ['KubeNode-Set', true],
    ['kubenode', false],
    ['Name', false],
  ])('%s: %s', (name, expected) => {
    expect(isOwnTag(name)).toBe(expected);
  });
});
