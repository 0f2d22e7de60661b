import { describe, expect, it } from 'vitest';
import type { PausedParts } from '../../../../src/api/status/pauses.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectKey } from '../../../../src/kube/objects/object-id.ts';
import { planTarget } from '../../../../src/sync/apply/plan.ts';
import { withoutPausedParts } from '../../../../src/sync/apply/prune/paused-parts.ts';
import {
  type ApplyScenario,
  applyInput,
  configMap,
  entry,
  live,
  namespace,
  terminating,
  unit,
} from '../fixtures.ts';

const a = configMap('a');
const changed = configMap('a', { key: 'new' });
const foreign = configMap('a', { key: 'by hand' });
const b = configMap('b');
const inShop: KubeObject = { ...b, metadata: { name: 'b', namespace: 'shop' } };
const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { kind: 'Widget' } },
};
const widget: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'default' },
};
const inOther = { unit: 'other' };
const MARKED = { markedAt: '2030-01-01T00:00:00Z' };

/** Explains the plan while unit web is paused. */
function paused(scenario: ApplyScenario): string[] {
  return explain(scenario, { pausedUnits: new Map([['web', 'unit web is paused by anna: ticket 7']]) });
}

function explain(scenario: ApplyScenario, parts: PausedParts): string[] {
  const budget = { maxObjects: 10, maxPercent: 100 };
  const input = applyInput({ ...scenario, more: { budget, ...parts } });
  const plan = withoutPausedParts(planTarget(input), input);
  return [
    ...plan.objects.map(({ action, id, because }) => `${action} ${id.name}: ${because}`),
    ...plan.prune.map(({ action, entry: { name }, because }) => `${action} ${name}: ${because}`),
    ...plan.holds.map((hold) => `held ${hold.unit}`),
    ...(plan.paused ?? []).map(({ name, differing, removed }) => `${name}: ${differing}, ${removed}`),
    ...(plan.unmatchedPauses ?? []).map((name) => `no object ${name}`),
  ];
}

const NOT_DELETED = 'not deleted: unit web is paused';

describe('withoutPausedParts', () => {
  it.each<[name: string, scenario: ApplyScenario, expected: string[]]>([
    [
      'has nothing left to do where only finalizers of others keep an object',
      { inventory: [entry(a)], cluster: [terminating(a)] },
      ['confirm a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y'],
    ],
    ['creates nothing', { git: [unit('web', [a])] }, ['paused a: create: new in git', 'unit web: 1, 0']],
    [
      'updates nothing',
      { git: [unit('web', [changed])], inventory: [entry(a)], cluster: [live(a)] },
      ['paused a: update: changed in git', 'unit web: 1, 0'],
    ],
    [
      'shows drift, and does not correct it',
      { git: [unit('web', [a])], inventory: [entry(a)], cluster: [live(foreign)] },
      ['paused a: correct: changed in the cluster: data.key', 'unit web: 1, 0'],
    ],
    [
      'reports nothing while the unit matches git',
      { git: [unit('web', [a])], inventory: [entry(a)], cluster: [live(a)] },
      ['same a: matches git'],
    ],
    [
      'deletes nothing',
      { git: [unit('web', [a])], inventory: [entry(a), entry(b)], cluster: [live(a), live(b)] },
      ['same a: matches git', `paused b: ${NOT_DELETED}`, 'unit web: 0, 1'],
    ],
    [
      'waits with the deletes of a unit that a commit removes, and asks for no acknowledgement',
      { inventory: [entry(a)], cluster: [live(a)] },
      [`paused a: ${NOT_DELETED}`, 'unit web: 0, 1'],
    ],
    [
      'keeps the labels of what it would release',
      { inventory: [entry(a, { adopted: true })], cluster: [live(a)] },
      [`paused a: ${NOT_DELETED}`, 'unit web: 0, 1'],
    ],
    [
      'writes and deletes in other units',
      {
        git: [unit('other', [changed])],
        inventory: [entry(a, inOther), entry(b, inOther)],
        cluster: [live(a, inOther), live(b, inOther)],
      },
      ['update a: changed in git', 'delete b: removed from git'],
    ],
    [
      'leaves an object that moves out of the unit',
      { git: [unit('other', [a])], inventory: [entry(a)], cluster: [live(a)] },
      ['paused a: update: moved from unit web', 'unit web: 1, 0'],
    ],
    [
      'leaves an object that moves into the unit',
      { git: [unit('web', [a])], inventory: [entry(a, inOther)], cluster: [live(a, inOther)] },
      ['paused a: update: moved from unit other', 'unit web: 1, 0'],
    ],
    [
      'leaves an object whose move out of the unit was only intended',
      {
        git: [unit('other', [changed])],
        inventory: [entry(a, { ...inOther, from: 'web' })],
        cluster: [live(a)],
      },
      ['paused a: update: changed in git', 'unit web: 1, 0'],
    ],
    [
      'keeps the Namespace in which its objects are',
      {
        inventory: [entry(inShop), entry(namespace('shop'), { ...inOther, ...MARKED, acknowledgedBy: 'x' })],
        cluster: [live(inShop), live(namespace('shop'), inOther)],
      },
      [`paused b: ${NOT_DELETED}`, `paused shop: ${NOT_DELETED}`, 'unit web: 0, 2'],
    ],
    [
      'keeps the CRD of which its objects are',
      {
        inventory: [entry(widget), entry(crd, { ...inOther, ...MARKED, acknowledgedBy: 'x' })],
        cluster: [live(widget), live(crd, inOther)],
      },
      [`paused w: ${NOT_DELETED}`, `paused widgets.example.com: ${NOT_DELETED}`, 'unit web: 0, 2'],
    ],
    [
      'does not keep a Namespace without objects of the unit',
      {
        git: [unit('web', [a])],
        inventory: [entry(a), entry(namespace('shop'), { ...inOther, ...MARKED, acknowledgedBy: 'x' })],
        cluster: [live(a), live(namespace('shop'), inOther)],
      },
      ['same a: matches git', 'delete shop: removed from git'],
    ],
    [
      'waits as without the pause for an object of another hub',
      {
        git: [unit('web', [a])],
        cluster: [live(a, { hub: 'another-hub' })],
      },
      ['wait a: another hub owns it: label kubenode.dev/hub'],
    ],
  ])('%s', (_name, scenario, expected) => {
    expect(paused(scenario)).toEqual(expected);
  });

  it.each<[name: string, object: string, scenario: ApplyScenario, expected: string[]]>([
    [
      'writes the rest of the unit',
      'ConfigMap/default/a',
      { git: [unit('web', [a, b])] },
      ['paused a: create: new in git', 'create b: new in git', 'object ConfigMap/default/a: 1, 0'],
    ],
    [
      'shows drift, and does not correct it',
      'ConfigMap/default/a',
      { git: [unit('web', [a])], inventory: [entry(a)], cluster: [live(foreign)] },
      ['paused a: correct: changed in the cluster: data.key', 'object ConfigMap/default/a: 1, 0'],
    ],
    [
      'deletes only the others, and asks for no acknowledgement of what it does not delete',
      'ConfigMap/default/a',
      { inventory: [entry(a)], cluster: [live(a)] },
      ['paused a: not deleted: object ConfigMap/default/a is paused', 'object ConfigMap/default/a: 0, 1'],
    ],
    [
      'asks for an acknowledgement of the other deletes of the unit',
      'ConfigMap/default/a',
      { inventory: [entry(a), entry(b)], cluster: [live(a), live(b)] },
      [
        'held b: ',
        'paused a: not deleted: object ConfigMap/default/a is paused',
        'held web',
        'object ConfigMap/default/a: 0, 1',
      ],
    ],
    [
      'keeps the Namespace in which it is',
      'ConfigMap/shop/b',
      {
        inventory: [entry(inShop), entry(namespace('shop'), { ...inOther, ...MARKED, acknowledgedBy: 'x' })],
        cluster: [live(inShop), live(namespace('shop'), inOther)],
      },
      [
        'paused b: not deleted: object ConfigMap/shop/b is paused',
        'paused shop: not deleted: object ConfigMap/shop/b is paused',
        'object ConfigMap/shop/b: 0, 2',
      ],
    ],
    [
      'pauses an object without a namespace, whatever its API group',
      'CustomResourceDefinition/widgets.example.com',
      { git: [unit('web', [crd, a])] },
      [
        'paused widgets.example.com: create: new in git',
        'create a: new in git',
        'object CustomResourceDefinition/widgets.example.com: 1, 0',
      ],
    ],
    [
      'names a pause of an object that neither git nor the inventory lists',
      'ConfigMap/default/misspelt',
      { git: [unit('web', [a])], inventory: [entry(b)], cluster: [live(b)] },
      ['create a: new in git', 'delete b: removed from git', 'no object ConfigMap/default/misspelt'],
    ],
    [
      'knows an object that only the inventory lists',
      'ConfigMap/default/b',
      { git: [unit('web', [a])], inventory: [entry(b)], unknown: ({ name }) => name === 'b' },
      ['create a: new in git', 'keep b: '],
    ],
  ])('with a paused object %s', (_name, object, scenario, expected) => {
    const shown = explain(scenario, { pausedObjects: new Map([[object, 'paused by anna']]) });
    expect(shown.map((text) => text.replace(/^(held|keep) b: .*/, '$1 b: '))).toEqual(expected);
  });

  it('with a paused object and its unit paused, names the unit', () => {
    const shown = explain(
      { git: [unit('web', [a])] },
      { pausedUnits: new Map([['web', 'x']]), pausedObjects: new Map([['ConfigMap/default/a', 'x']]) },
    );
    expect(shown).toEqual(['paused a: create: new in git', 'unit web: 1, 0']);
  });

  it('keeps what the inventory lists, without the acknowledgement that would release its delete', () => {
    const input = applyInput({
      inventory: [entry(a)],
      cluster: [live(a)],
      more: { budget: { maxObjects: 10, maxPercent: 100 }, acknowledgements: [] },
    });
    const present = input.inventory.entries.get(objectKey(entry(a)));
    const acknowledged = { ...entry(a), acknowledgedBy: 'x' };
    const { prune } = withoutPausedParts(
      { objects: [], holds: [], prune: [{ action: 'delete', entry: acknowledged, because: '' }] },
      { ...input, pausedUnits: new Map([['web', 'because']]) },
    );
    expect(prune.map((each) => each.entry)).toEqual([present]);
  });

  it('returns the plan as it is without a paused unit', () => {
    const plan = planTarget(applyInput({ git: [unit('web', [a])] }));
    expect(withoutPausedParts(plan, applyInput({}))).toBe(plan);
  });
});
