import { describe, expect, it } from 'vitest';
import { LABEL_HUB, LABEL_UNIT } from '../../../src/api/names.ts';
import type { KubeObject, Metadata } from '../../../src/kube/objects/object.ts';
import { configMap } from './content.ts';
import { type ClusterContent, findProblems } from './problems.ts';

const HUB = 'hub-uid';
const CONTENT = { web: [configMap('a', { value: '1' })] };
const KEY = 'ConfigMap default/a';
const owned = (object: KubeObject, metadata: Partial<Metadata> = {}): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { [LABEL_HUB]: HUB, [LABEL_UNIT]: 'web' }, uid: '1', ...metadata },
});
const a = owned(configMap('a', { value: '1', added: 'by a server' }));
const foreign = {
  ...configMap('e', { value: 'foreign' }),
  metadata: { name: 'e', namespace: 'default', uid: '7' },
};
const SYNCED: ClusterContent = { live: [a], inventory: new Map([[KEY, 'web']]), foreign: [] };

describe('what is not as in git', () => {
  it.each<[name: string, cluster: Partial<ClusterContent>, problems: string[]]>([
    ['finds nothing in a synced cluster', {}, []],
    ['a missing object', { live: [] }, [`${KEY}: missing`]],
    [
      'an object that is being deleted',
      { live: [owned(a, { deletionTimestamp: 'now' })] },
      [`${KEY}: being deleted`],
    ],
    [
      'an object of another unit',
      { live: [owned(a, { labels: {} })] },
      [`${KEY}: without owner labels of unit web`],
    ],
    [
      'another value',
      { live: [owned(configMap('a', { value: '2' }))] },
      [`${KEY}: .data.value: expected "1", got "2"`],
    ],
    [
      'an orphan',
      { live: [a, owned(configMap('b', {}))] },
      ['ConfigMap default/b: orphan: it carries owner labels and no commit declares it'],
    ],
    ['an object that was released', { live: [a, configMap('b', {})] }, []],
    [
      'an object outside of the inventory',
      { inventory: new Map() },
      [`${KEY}: not in the inventory of unit web`],
    ],
    [
      'an entry without an object in git',
      { inventory: new Map([...SYNCED.inventory, ['ConfigMap default/b', 'web']]) },
      ['ConfigMap default/b: in the inventory, and no commit declares it'],
    ],
    ['nothing about an untouched foreign object', { live: [a, foreign], foreign: [foreign] }, []],
    [
      'a deleted foreign object',
      { foreign: [foreign] },
      ['ConfigMap default/e: belongs to another manager and was deleted'],
    ],
    [
      'a recreated foreign object',
      { live: [a, { ...foreign, metadata: { ...foreign.metadata, uid: '8' } }], foreign: [foreign] },
      ['ConfigMap default/e: belongs to another manager and was recreated'],
    ],
    [
      'a foreign object that was overwritten',
      { live: [a, { ...foreign, data: { value: 'ours' } }], foreign: [foreign] },
      ['ConfigMap default/e: belongs to another manager, .data.value: expected "foreign", got "ours"'],
    ],
  ])('reports %s', (_, cluster, problems) => {
    expect(findProblems(CONTENT, HUB, { ...SYNCED, ...cluster })).toEqual(problems);
  });

  it('compares lists item by item', () => {
    const desired = { ...configMap('a', {}), rules: [{ verbs: ['get'] }] };
    const found = (rules: readonly unknown[]): string[] =>
      findProblems({ web: [desired] }, HUB, { ...SYNCED, live: [owned({ ...desired, rules })] });
    expect(found([{ verbs: ['get'], extra: true }])).toEqual([]);
    expect(found([{ verbs: ['list'] }])).toEqual([`${KEY}: .rules[0].verbs[0]: expected "get", got "list"`]);
    expect(found([])).toEqual([`${KEY}: .rules: expected 1 items, got 0`]);
  });
});
