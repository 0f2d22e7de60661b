import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { projectionOf } from '../../../src/sync/apply/drift.ts';
import { planTarget } from '../../../src/sync/apply/plan.ts';
import { planDigestOf } from '../../../src/sync/judge/deletes.ts';
import {
  configMap,
  entry,
  FOREIGN,
  live,
  MOVED,
  namespace,
  type Scene,
  UNIT,
  unit,
  withLabels,
  world,
} from './fixtures.ts';

const a = configMap('a');
const b = configMap('b');
const keep = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/prune': 'Never' } } };
const dying = {
  ...live(a),
  metadata: { ...live(a).metadata, deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['x/y'] },
};
const component: KubeObject = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'MachineComponent',
  metadata: { name: 'kubelet-1.31.4' },
};
const used = {
  ...live(component),
  status: { conditions: [{ type: 'InUse', status: 'True' }], machines: { current: 7 } },
};

describe('planTarget', () => {
  it.each<[name: string, scene: Scene, says: string]>([
    ['creates what is new in git', { git: [unit(UNIT, [a])] }, 'create ConfigMap default/a: new in git'],
    [
      'leaves alone what is as in git',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(a)] },
      'same ConfigMap default/a: as in git',
    ],
    [
      'updates what changed in git',
      { git: [unit(UNIT, [configMap('a', { key: 'new' })])], inventory: [entry(a)], cluster: [live(a)] },
      'update ConfigMap default/a: changed in git',
    ],
    [
      'corrects what changed in the cluster',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(configMap('a', { key: 'foreign' }))] },
      'correct ConfigMap default/a: changed in the cluster: data.key',
    ],
    [
      'leaves a field alone that git does not set',
      {
        git: [unit(UNIT, [a])],
        inventory: [entry(a)],
        cluster: [live(configMap('a', { key: 'value', more: 'x' }))],
      },
      'same ConfigMap default/a: as in git',
    ],
    [
      'brings back what is gone',
      { git: [unit(UNIT, [a])], inventory: [entry(a)] },
      'create ConfigMap default/a: it is gone, or its marks are',
    ],
    [
      'writes again what was intended and never confirmed',
      {
        git: [unit(UNIT, [a])],
        inventory: [{ ...objectIdOf(a), version: 'v1', unit: UNIT, commit: 'x' }],
        cluster: [live(a)],
      },
      'update ConfigMap default/a: not confirmed yet',
    ],
    [
      'never takes over what another hub owns',
      { git: [unit(UNIT, [a])], cluster: [withLabels(live(a), FOREIGN)] },
      'wait ConfigMap default/a: another hub owns it: label kubenode.dev/hub',
    ],
    [
      'never takes an object from another Pipeline of the same hub',
      { git: [unit(UNIT, [a])], cluster: [withLabels(live(a), MOVED)] },
      'wait ConfigMap default/a: another Pipeline owns it: label kubenode.dev/unit',
    ],
    [
      'waits for what is being deleted',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [dying] },
      'wait ConfigMap default/a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y',
    ],
    [
      'writes nothing to what it cannot see',
      { git: [unit(UNIT, [a])], unknown: () => true },
      'wait ConfigMap default/a: ConfigMap cannot be seen',
    ],
    [
      'hands an object over to its new unit',
      { git: [unit('other', [a])], inventory: [entry(a)], cluster: [live(a)] },
      'update ConfigMap default/a: moved from unit web',
    ],
    [
      'deletes what left git',
      { git: [unit(UNIT, [b])], inventory: [entry(a), entry(b)], cluster: [live(a), live(b)] },
      'same ConfigMap default/b: as in git; delete ConfigMap default/a: left git',
    ],
    [
      'deletes nothing that it cannot read',
      { git: [unit(UNIT, [])], inventory: [entry(a)], unknown: () => true },
      'keep ConfigMap default/a: ConfigMap cannot be seen',
    ],
    [
      'asks by name for what the watch does not show',
      { git: [unit(UNIT, [])], inventory: [entry(a)] },
      'confirm ConfigMap default/a: left git, and is not seen any more',
    ],
    [
      'releases what another hub has taken',
      { git: [unit(UNIT, [])], inventory: [entry(a)], cluster: [withLabels(live(a), FOREIGN)] },
      'release ConfigMap default/a: left git, and belongs to somebody else: other-hub',
    ],
    [
      'releases what another unit has',
      { git: [unit(UNIT, [])], inventory: [entry(a)], cluster: [withLabels(live(a), MOVED)] },
      'release ConfigMap default/a: left git, and belongs to somebody else: other-unit',
    ],
    [
      'releases what is marked to be kept',
      { git: [unit(UNIT, [b])], inventory: [entry(keep), entry(b)], cluster: [live(keep), live(b)] },
      'same ConfigMap default/b: as in git; release ConfigMap default/a: left git, marked kubenode.dev/prune: Never',
    ],
    [
      'waits for finalizers of what it deleted',
      { git: [unit(UNIT, [])], inventory: [entry(a)], cluster: [dying] },
      'confirm ConfigMap default/a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y',
    ],
    [
      'keeps a component that machines run',
      { git: [unit(UNIT, [b])], inventory: [entry(component), entry(b)], cluster: [used, live(b)] },
      'same ConfigMap default/b: as in git; keep kubenode.dev/MachineComponent kubelet-1.31.4: still in use by 7 machines: kept until the last reference is gone',
    ],
  ])('%s', (_name, scene, says) => {
    expect(explain(scene)).toBe(says);
  });

  it('holds a unit that renders to nothing, names the plan, and lets it go when that plan is acknowledged', () => {
    const scene: Scene = { inventory: [entry(a)], cluster: [live(a)] };
    const planDigest = planDigestOf({ unit: UNIT, deletes: [objectIdOf(a)] });
    expect(explain(scene)).toBe(
      `held ConfigMap default/a: unit web renders to nothing, and 1 objects would go; plan ${planDigest}`,
    );
    expect(
      explain({ ...scene, more: { acknowledgements: [{ unit: UNIT, planDigest: 'sha256:other' }] } }),
    ).toContain('held');
    expect(explain({ ...scene, more: { acknowledgements: [{ unit: 'other', planDigest }] } })).toContain(
      'held',
    );
    expect(explain({ ...scene, more: { acknowledgements: [{ unit: UNIT, planDigest }] } })).toBe(
      'delete ConfigMap default/a: left git',
    );
  });

  it('holds what goes beyond the larger of both delete budgets, and nothing below', () => {
    const all = Array.from({ length: 20 }, (_, index) => configMap(`c${index}`));
    const scene = (left: number): Scene => ({
      git: [unit(UNIT, all.slice(left))],
      inventory: all.map((object) => entry(object)),
      cluster: all.map((object) => live(object)),
      more: { budget: { maxObjects: 3, maxPercent: 25 } },
    });
    expect(planTarget(world(scene(5))).holds).toEqual([]);
    expect(planTarget(world(scene(6))).holds.map(({ because }) => because)).toEqual([
      '6 of 20 objects of unit web would go, the delete budget is 5',
    ]);
  });

  it('deletes a protected object only when acknowledged, and in two passes', () => {
    const web = namespace('web');
    const planDigest = planDigestOf({ unit: UNIT, deletes: [objectIdOf(web)] });
    const scene = (more: object): Scene => ({
      git: [unit(UNIT, [b])],
      inventory: [entry(web, more), entry(b)],
      cluster: [live(web), live(b)],
    });
    const acknowledged = { more: { acknowledgements: [{ unit: UNIT, planDigest }] } };
    expect(explain(scene({}))).toContain('held Namespace web: protected objects would go: Namespace web');
    expect(explain({ ...scene({}), ...acknowledged })).toContain('mark Namespace web');
    expect(explain({ ...scene({ markedAt: '2030-01-01T00:00:00Z' }), ...acknowledged })).toContain(
      'delete Namespace web',
    );
  });

  it('takes the words of the server for those of git, but no other words', () => {
    const said = configMap('a', { key: 'wrote it otherwise' });
    const scene: Scene = { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(said)] };
    const { object } = planTarget(world(scene)).wanted[0] ?? {};
    if (!object) throw new Error('nothing is wanted');
    const serverForms = new Map([
      [objectKey(objectIdOf(a)), { digest: digestOf(a), projection: projectionOf(object, live(said)) }],
    ]);
    expect(explain({ ...scene, more: { serverForms } })).toBe(
      'same ConfigMap default/a: as in git, in the words of the server',
    );
    const foreign = {
      ...scene,
      cluster: [live(configMap('a', { key: 'a third thing' }))],
      more: { serverForms },
    };
    expect(explain(foreign)).toContain('correct');
  });

  it('writes a namespace before what is in it, and deletes it after', () => {
    const inside = { ...a, metadata: { name: 'a', namespace: 'web' } };
    const git = [unit(UNIT, [inside, namespace('web')])];
    expect(explain({ git })).toBe('create Namespace web: new in git; create ConfigMap web/a: new in git');
    const left = planTarget(
      world({
        git: [unit('x', [])],
        inventory: [entry(inside), entry(namespace('web'))],
        cluster: [live(inside), live(namespace('web'))],
      }),
    ).left;
    expect(left.map((item) => objectKey(item.entry))).toEqual(['ConfigMap web/a', 'Namespace web']);
  });

  it('deletes nothing on account of what it cannot know, whatever else is so', () => {
    const word = fc.constantFrom('there', 'gone', 'foreign', 'unknown');
    fc.assert(
      fc.property(fc.array(fc.record({ word, wanted: fc.boolean() }), { maxLength: 30 }), (items) => {
        const objects = items.map((item, index) => ({ ...item, object: configMap(`c${index}`) }));
        const unknown = new Set(
          objects.filter((item) => item.word === 'unknown').map(({ object }) => object.metadata.name),
        );
        const plan = planTarget(
          world({
            git: [
              unit(
                UNIT,
                objects.filter(({ wanted }) => wanted).map(({ object }) => object),
              ),
            ],
            inventory: objects.map(({ object }) => entry(object)),
            cluster: objects.flatMap(({ object, word: state }) => {
              if (state === 'gone') return [];
              return state === 'foreign' ? [withLabels(live(object), FOREIGN)] : [live(object)];
            }),
            unknown: ({ name }) => unknown.has(name),
            more: { budget: { maxObjects: 1000, maxPercent: 100 }, acknowledgements: [] },
          }),
        );
        const safe = new Set(
          objects
            .filter((item) => item.word === 'there' && !item.wanted)
            .map(({ object }) => object.metadata.name),
        );
        const deleted = plan.left.filter(({ action }) => action === 'delete').map((item) => item.entry.name);
        expect(deleted.filter((name) => !safe.has(name))).toEqual([]);
        const taken = plan.wanted.filter(({ action }) => action !== 'wait').map(({ id }) => id.name);
        expect(taken.filter((name) => unknown.has(name))).toEqual([]);
      }),
    );
  });
});

function explain(scene: Scene): string {
  const { wanted, left } = planTarget(world(scene));
  return [
    ...wanted.map(({ action, id, because }) => `${action} ${objectKey(id)}: ${because}`),
    ...left.map(({ action, entry: { ...id }, because }) => `${action} ${objectKey(id)}: ${because}`),
  ].join('; ');
}
