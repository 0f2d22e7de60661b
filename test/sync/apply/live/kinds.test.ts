import { describe, expect, it } from 'vitest';
import { kindsOfMany, usedKinds } from '../../../../src/sync/apply/live/kinds.ts';
import { entry, unit } from '../fixtures.ts';

const widget = (version: string) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'w' },
});

const objects = (version: string, count: number) => Array.from({ length: count }, () => widget(version));

describe('usedKinds', () => {
  it.each([
    ['the version that git declares, not that of the inventory', ['v1'], ['v1beta1'], ['v1']],
    ['the version of the inventory for what git removed', [], ['v1beta1'], ['v1beta1']],
    ['one version of each kind', ['v1', 'v1'], ['v1', 'v1beta1'], ['v1']],
  ])('reads %s', (_name, declared, listed, expected) => {
    const entries = listed.map((version, index) =>
      entry({ ...widget(version), metadata: { name: `${index}` } }, { version }),
    );
    const inventory = {
      clusterUID: 'uid',
      spent: [],
      entries: new Map(entries.map((each) => [each.name, each])),
    };
    expect(usedKinds([unit('web', declared.map(widget))], inventory)).toEqual(
      expected.map((version) => ({ apiVersion: `example.com/${version}`, kind: 'Widget' })),
    );
  });
});

describe('kindsOfMany', () => {
  it('are those with 200 objects, whatever their versions, and no others', () => {
    expect(kindsOfMany(objects('v1', 199))).toEqual([]);
    expect(kindsOfMany([...objects('v1', 150), ...objects('v2', 50)])).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Widget' },
    ]);
    const gadgets = objects('v1', 199).map((object) => ({ ...object, kind: 'Gadget' }));
    expect(kindsOfMany([...objects('v1', 200), ...gadgets])).toHaveLength(1);
  });
});
