import { describe, expect, it } from 'vitest';
import { applyEdits, CALM_UNIT, type Content, configMap, type Edit, GOOD, withBeat } from './content.ts';

const BASE: Content = { web: [configMap('a', {}), configMap('b', {})], more: [configMap('c', {})] };

describe('edits of a commit', () => {
  it.each<[name: string, edit: Edit, units: Record<string, string[]>]>([
    [
      'puts an object',
      { edit: 'put', unit: 'web', object: configMap('d', {}) },
      { web: ['a', 'b', 'd'], more: ['c'] },
    ],
    [
      'moves an object that another unit declares',
      { edit: 'put', unit: 'more', object: configMap('a', {}) },
      { web: ['b'], more: ['c', 'a'] },
    ],
    ['puts many objects', { edit: 'put-many', unit: 'x', count: 2 }, { ...named(), x: ['many-0', 'many-1'] }],
    ['removes an object', { edit: 'remove', nth: 1 }, { web: ['a'], more: ['c'] }],
    ['counts from the start again', { edit: 'remove', nth: 5 }, { web: ['a', 'b'], more: [] }],
    ['moves an object', { edit: 'move', nth: 0, unit: 'more' }, { web: ['b'], more: ['c', 'a'] }],
    [
      'renames a unit',
      { edit: 'rename-unit', unit: 'web', to: 'new' },
      { web: [], more: ['c'], new: ['a', 'b'] },
    ],
    ['merges units', { edit: 'rename-unit', unit: 'web', to: 'more' }, { web: [], more: ['c', 'a', 'b'] }],
    ['leaves a unit that is renamed to itself', { edit: 'rename-unit', unit: 'web', to: 'web' }, named()],
    ['empties a unit', { edit: 'empty-unit', unit: 'web' }, { web: [], more: ['c'] }],
    ['drops the cluster', { edit: 'drop-cluster' }, {}],
    ['empties the cluster', { edit: 'empty-cluster' }, { web: [], more: [] }],
  ])('%s', (_, edit, units) => {
    expect(namesOf(applyEdits(BASE, [edit]))).toEqual(units);
  });

  it('changes fields of an object', () => {
    const changed = applyEdits(BASE, [{ edit: 'change', nth: 0, fields: { data: { value: 'new' } } }]);
    expect(changed['web']?.[0]).toEqual(configMap('a', { value: 'new' }));
  });

  it('changes nothing in a cluster without objects', () => {
    expect(applyEdits({}, [{ edit: 'remove', nth: 3 }])).toEqual({});
  });

  it('never chooses the object of the calm unit', () => {
    const content = withBeat({ web: [configMap('a', {})] }, '1');
    const removed = applyEdits(content, [
      { edit: 'remove', nth: 0 },
      { edit: 'remove', nth: 0 },
    ]);
    expect(namesOf(removed)).toEqual({ web: [], [CALM_UNIT]: ['beat'] });
  });
});

describe('the good commit', () => {
  it('declares every object once', () => {
    const keys = Object.values(GOOD)
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

function named(): Record<string, string[]> {
  return namesOf(BASE);
}

function namesOf(content: Content): Record<string, string[]> {
  const names = Object.entries(content).map(([unit, objects]) => [
    unit,
    objects.map(({ metadata }) => metadata.name),
  ]);
  return Object.fromEntries(names) as Record<string, string[]>;
}
