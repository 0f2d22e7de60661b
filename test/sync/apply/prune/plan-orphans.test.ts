import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { planTarget } from '../../../../src/sync/apply/plan.ts';
import {
  describeOrphans,
  hasMissingEntries,
  orphanEntry,
  unlistedObjects,
  withEntries,
} from '../../../../src/sync/apply/prune/plan-orphans.ts';
import {
  type ApplyScenario,
  applyInput,
  COMMIT,
  configMap,
  entry,
  HUB,
  live,
  OTHER_HUB,
  UNIT,
  unit,
} from '../fixtures.ts';

const a = configMap('a');
const b = configMap('b');

describe('unlistedObjects', () => {
  it.each<[name: string, scenario: ApplyScenario & { scope?: string }, expected: string[]]>([
    ['finds an object that neither the inventory nor git names', { cluster: [live(a)] }, ['a']],
    ['leaves out what the inventory lists', { inventory: [entry(a)], cluster: [live(a)] }, []],
    [
      'leaves what git declares in its unit to the apply',
      { git: [unit(UNIT, [a])], cluster: [live(a), live(b)] },
      ['b'],
    ],
    [
      'finds an object that git declares in another unit than its label',
      { git: [unit('other', [a])], cluster: [live(a)] },
      ['a'],
    ],
    [
      'S4 leaves out the objects of another hub',
      { cluster: [live(a, { hub: OTHER_HUB['kubenode.dev/hub'] })] },
      [],
    ],
    ['leaves out an object without a unit', { cluster: [withoutUnit(live(a))] }, []],
    ['leaves the objects of a hub to its own inventory', { cluster: [live(a, { unit: 'fleet.web' })] }, []],
    ['leaves the objects of a cluster to its inventory', { cluster: [live(a)], scope: 'fleet.' }, []],
    [
      'finds only those of its own Pipeline among the objects of a hub',
      { cluster: [live(a, { unit: 'fleet.web' }), live(b, { unit: 'other.web' })], scope: 'fleet.' },
      ['a'],
    ],
  ])('%s', (_, { scope = '', cluster = [], ...scenario }, expected) => {
    const { inventory, units } = applyInput(scenario);
    const found = unlistedObjects({ hub: HUB, scope, inventory, units, objects: cluster });
    expect(found.map(({ metadata }) => metadata.name)).toEqual(expected);
  });
});

const BY_SYNC: ManagedFields = { manager: 'kubenode-sync', operation: 'Apply', apiVersion: 'v1' };

describe('orphanEntry', () => {
  it.each<[name: string, managedFields: readonly ManagedFields[], expected: boolean]>([
    ['is ours if the server recorded an apply by sync', [BY_SYNC], true],
    ['is ours if others wrote fields, too', [{ manager: 'kubectl', operation: 'Update' }, BY_SYNC], true],
    [
      'S4 is not ours if only others wrote it: labels can be copied',
      [{ manager: 'kubectl', operation: 'Apply' }],
      false,
    ],
    ['S4 is not ours if sync only updated it', [{ ...BY_SYNC, operation: 'Update' }], false],
    ['S4 is not ours if sync applied only its status', [{ ...BY_SYNC, subresource: 'status' }], false],
    [
      'is not ours in another group than the one sync applied it in',
      [{ ...BY_SYNC, apiVersion: 'x.dev/v1' }],
      false,
    ],
    ['S4 is not ours without a record of the server', [], false],
  ])('%s', (_, managedFields, expected) => {
    expect(orphanEntry(recorded(live(a), managedFields), COMMIT) !== undefined).toBe(expected);
  });

  it('lists the unit of the label and the UID, for the present commit', () => {
    expect(orphanEntry(recorded(live(a), [BY_SYNC]), COMMIT)).toEqual({
      group: '',
      kind: 'ConfigMap',
      namespace: 'default',
      name: 'a',
      version: 'v1',
      unit: UNIT,
      commit: COMMIT,
      uid: 'uid-a',
      found: true,
    });
  });

  it('remembers that another client created it', () => {
    const annotations = { 'kubenode.dev/adopted': 'true' };
    const adopted = { ...live(a), metadata: { ...live(a).metadata, annotations } };
    expect(orphanEntry(adopted, COMMIT)).toMatchObject({ adopted: true });
  });
});

describe('planTarget', () => {
  const many = Array.from({ length: 12 }, (_, index) => configMap(`o${index}`));

  it.each<[name: string, orphans: readonly KubeObject[], expected: readonly string[]]>([
    [
      'prunes an orphan, with the reason',
      [a],
      ['delete a: removed from git; found by its owner labels, because the inventory did not list it'],
    ],
    [
      'S2 holds more orphans than the delete budget allows',
      many,
      many.map(({ metadata }) => `held ${metadata.name}`),
    ],
  ])('%s', (_, orphans, expected) => {
    const input = applyInput({
      git: [unit(UNIT, [b])],
      inventory: [entry(b)],
      cluster: [b, ...orphans].map((object) => live(object)),
    });
    const { prune } = planTarget({
      ...input,
      inventory: withEntries(input.inventory, orphans.map(orphanOf)),
    });
    const planned = prune.map(({ action, entry: { name }, because }) =>
      action === 'held' ? `held ${name}` : `${action} ${name}: ${because}`,
    );
    expect(planned.toSorted()).toEqual([...expected].toSorted());
  });
});

describe('hasMissingEntries', () => {
  it.each<[name: string, scenario: ApplyScenario, expected: boolean]>([
    [
      'is true if an object that git declares is live and not listed',
      { git: [unit(UNIT, [a])], cluster: [live(a)] },
      true,
    ],
    ['is false in a new cluster', { git: [unit(UNIT, [a])] }, false],
    [
      'is false if every object is listed',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(a)] },
      false,
    ],
    [
      'is false for an object whose write was intended and not confirmed',
      { git: [unit(UNIT, [a])], inventory: [withoutApplied(a)], cluster: [live(a)] },
      false,
    ],
  ])('%s', (_, scenario, expected) => {
    expect(hasMissingEntries(planTarget(applyInput(scenario)), [])).toBe(expected);
  });
});

describe('describeOrphans', () => {
  it('names the first three and counts the others', () => {
    const orphans = ['a', 'b', 'c', 'd', 'e'].map((name) => entry(configMap(name)));
    expect(describeOrphans(orphans)).toMatch(
      /inventory: ConfigMap default\/a, ConfigMap default\/b, ConfigMap default\/c and 2 more\. They are listed again/,
    );
  });
});

function recorded(object: KubeObject, managedFields: readonly ManagedFields[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function withoutUnit(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { 'kubenode.dev/hub': HUB } } };
}

function withoutApplied(object: KubeObject): InventoryEntry {
  const { applied: _, uid: __, ...intended } = entry(object);
  return intended;
}

function orphanOf(object: KubeObject): InventoryEntry {
  const listed = orphanEntry(live(object), COMMIT);
  if (!listed) throw new Error('expected an orphan');
  return listed;
}
