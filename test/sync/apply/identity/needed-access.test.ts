import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { gitOnlyObject, neededAccess } from '../../../../src/sync/apply/identity/needed-access.ts';
import type { PrunePlan } from '../../../../src/sync/apply/prune/plan.ts';
import { type ApplyScenario, configMap, entry, live, namespace, terminating, unit } from '../fixtures.ts';
import { planOf } from './fixtures.ts';

const OLD = configMap('old');
const STAYS = configMap('stays');
const CHANGED = configMap('old', { key: 'changed' });
const IN_GIT = unit('web', [OLD]);
const REPLACED: KubeObject = {
  ...CHANGED,
  metadata: { ...CHANGED.metadata, annotations: { 'kubenode.dev/replace': 'Allowed' } },
};
const KEPT: KubeObject = {
  ...OLD,
  metadata: { ...OLD.metadata, annotations: { 'kubenode.dev/prune': 'Never' } },
};
const LISTED = { inventory: [entry(OLD)], cluster: [live(OLD)] };

function needed(scenario: ApplyScenario): string {
  const found = neededAccess(planOf(scenario), 'web');
  return found
    .map(
      ({ verb, apiVersion, kind, namespace: where, names }) =>
        `${verb} ${apiVersion} ${kind} ${where}/${names.join(',')}`,
    )
    .join('; ');
}

describe('neededAccess', () => {
  it.each<[what: string, scenario: ApplyScenario, expected: string]>([
    [
      'create and patch for new objects, once for a kind in a namespace',
      { git: [unit('web', [configMap('a'), configMap('b')])] },
      'create v1 ConfigMap default/a,b; patch v1 ConfigMap default/a,b',
    ],
    ['nothing for what matches git', { git: [IN_GIT], ...LISTED }, ''],
    ['patch for a change', { git: [unit('web', [CHANGED])], ...LISTED }, 'patch v1 ConfigMap default/old'],
    [
      'patch for drift',
      { git: [IN_GIT], inventory: [entry(OLD)], cluster: [live(CHANGED)] },
      'patch v1 ConfigMap default/old',
    ],
    [
      'also delete and create where git allows a replacement',
      { git: [unit('web', [REPLACED])], ...LISTED },
      'patch v1 ConfigMap default/old; delete v1 ConfigMap default/old; create v1 ConfigMap default/old',
    ],
    [
      'create for an object that is not confirmed yet',
      { git: [unit('web', [OLD])], cluster: [live(OLD)] },
      'create v1 ConfigMap default/old; patch v1 ConfigMap default/old',
    ],
    [
      'delete for what git removed',
      {
        git: [unit('web', [STAYS])],
        inventory: [entry(OLD), entry(STAYS)],
        cluster: [live(OLD), live(STAYS)],
      },
      'delete v1 ConfigMap default/old',
    ],
    [
      'patch for what is released',
      { git: [], inventory: [entry(OLD)], cluster: [live(KEPT)] },
      'patch v1 ConfigMap default/old',
    ],
    ['nothing for what ends', { git: [], inventory: [entry(OLD)], cluster: [terminating(OLD)] }, ''],
    [
      'the namespace of a Namespace itself',
      { git: [unit('web', [namespace('shop')])] },
      'create v1 Namespace shop/shop; patch v1 Namespace shop/shop',
    ],
    [
      'each kind, each of its groups and each of its namespaces',
      {
        git: [
          unit('web', [
            configMap('a'),
            { ...configMap('b'), metadata: { name: 'b', namespace: 'shop' } },
            { ...configMap('c'), kind: 'Secret' },
            { ...configMap('d'), apiVersion: 'example.com/v1' },
          ]),
        ],
      },
      'create v1 ConfigMap default/a; patch v1 ConfigMap default/a; create v1 ConfigMap shop/b; patch v1 ConfigMap shop/b; ' +
        'create v1 Secret default/c; patch v1 Secret default/c; ' +
        'create example.com/v1 ConfigMap default/d; patch example.com/v1 ConfigMap default/d',
    ],
    [
      'no namespace for a Namespace of another group',
      { git: [unit('web', [{ ...namespace('shop'), apiVersion: 'example.com/v1' }])] },
      'create example.com/v1 Namespace /shop; patch example.com/v1 Namespace /shop',
    ],
    ['nothing for other units', { git: [unit('other', [OLD])] }, ''],
  ])('S29 asks before a write for %s', (_, scenario, expected) => {
    const budget = { maxObjects: 100, maxPercent: 100 };
    const more = { budget, acknowledgements: [] };
    expect(needed({ ...scenario, more })).toBe(expected);
  });
});

describe('the access that a delete needs', () => {
  const removal = { entry: entry(OLD), because: 'removed from git' };
  it.each<[action: PrunePlan['action'], expected: readonly string[]]>([
    ['mark', ['delete']],
    ['delete', ['delete']],
    ['release', ['patch']],
    ['confirm', []],
    ['keep', []],
    ['held', []],
    ['paused', []],
    ['after', []],
    ['wait', []],
  ])('S29 depends on what the plan does with the object: %s', (action, expected) => {
    const plan = { objects: [], prune: [{ action, ...removal }] };
    expect(neededAccess(plan, 'web').map(({ verb }) => verb)).toEqual(expected);
    expect(neededAccess(plan, 'other')).toEqual([]);
  });
});

describe('gitOnlyObject', () => {
  const rule = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'hung' },
  };
  it.each<[what: string, scenario: ApplyScenario, expected: string | undefined]>([
    ['a new rule', { git: [unit('web', [OLD, rule])] }, 'kubenode.dev/NodeRemedier hung'],
    [
      'a rule that git removed',
      { git: [unit('web', [OLD])], inventory: [entry(rule, { version: 'v1alpha1' })], cluster: [live(rule)] },
      'kubenode.dev/NodeRemedier hung',
    ],
    ['no rule of another unit', { git: [unit('other', [rule])] }, undefined],
    [
      'no removed rule of another unit',
      {
        git: [unit('web', [OLD]), unit('other', [STAYS])],
        inventory: [entry(rule, { version: 'v1alpha1', unit: 'other' })],
        cluster: [live(rule, { unit: 'other' })],
      },
      undefined,
    ],
    [
      'no rule that stays as it is',
      {
        git: [unit('web', [rule])],
        inventory: [entry(rule, { version: 'v1alpha1' })],
        cluster: [live(rule)],
      },
      undefined,
    ],
    [
      'no removed rule that the server deletes already',
      { git: [], inventory: [entry(rule, { version: 'v1alpha1' })], cluster: [terminating(rule)] },
      undefined,
    ],
    ['no other object', { git: [unit('web', [OLD])] }, undefined],
  ])('S29 finds %s of the unit', (_, scenario, expected) => {
    const more = { budget: { maxObjects: 100, maxPercent: 100 } };
    expect(gitOnlyObject(planOf({ ...scenario, more }), 'web')).toBe(expected);
  });
});
