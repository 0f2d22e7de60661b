import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { sentForm } from '../../../src/kube/sops/sent-form.ts';
import { projectionOf } from '../../../src/sync/apply/drift.ts';
import { objectsToDecrypt, planTarget } from '../../../src/sync/apply/plan.ts';
import type { DecryptedObjects } from '../../../src/sync/decrypt-objects.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import {
  type ApplyScenario,
  applyInput,
  configMap,
  entry,
  live,
  namespace,
  OTHER_HUB,
  OTHER_UNIT,
  terminating,
  UNIT,
  unit,
  withLabels,
} from './fixtures.ts';

const a = configMap('a');
const IGNORE_KEY = { kind: 'ConfigMap', path: 'data.key', policy: 'Ignore' } as const;

describe('planTarget', () => {
  it('S10 compares an ignored field again once git does not ignore it, also of an object that has not changed since', () => {
    const drifted = live(configMap('a', { key: 'foreign' }));
    const actions = [[IGNORE_KEY], [], [IGNORE_KEY]].map((fieldPolicies) => {
      const scenario = { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [drifted] };
      const [plan] = planTarget(applyInput({ ...scenario, more: { fieldPolicies } })).objects;
      return [plan?.action, plan?.force];
    });
    expect(actions).toEqual([
      ['same', true],
      ['correct', true],
      ['same', true],
    ]);
  });

  it('S10 creates an object with the values of git, also of ignored fields', () => {
    const input = applyInput({ git: [unit(UNIT, [a])], more: { fieldPolicies: [IGNORE_KEY] } });
    expect(planTarget(input).objects[0]?.object['data']).toEqual({ key: 'value' });
  });

  it.each<[name: string, scenario: ApplyScenario, expected: string]>([
    [
      'creates an object that is new in git',
      { git: [unit(UNIT, [a])] },
      'create ConfigMap default/a: new in git',
    ],
    [
      'leaves an object alone that matches git',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [live(a)] },
      'same ConfigMap default/a: matches git',
    ],
    [
      'updates an object that changed in git',
      { git: [unit(UNIT, [configMap('a', { key: 'new' })])], inventory: [entry(a)], cluster: [live(a)] },
      'update ConfigMap default/a: changed in git',
    ],
    [
      'corrects an object that changed in the cluster',
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
      'same ConfigMap default/a: matches git',
    ],
    [
      'does not correct a field that is ignored',
      {
        git: [unit(UNIT, [a])],
        inventory: [entry(a)],
        cluster: [live(configMap('a', { key: 'foreign' }))],
        more: { fieldPolicies: [IGNORE_KEY] },
      },
      'same ConfigMap default/a: matches git',
    ],
    [
      'corrects a field that is ignored in another unit only',
      {
        git: [unit(UNIT, [a])],
        inventory: [entry(a)],
        cluster: [live(configMap('a', { key: 'foreign' }))],
        more: { fieldPolicies: [{ ...IGNORE_KEY, unit: 'other' }] },
      },
      'correct ConfigMap default/a: changed in the cluster: data.key',
    ],
    [
      'recreates an object that is missing',
      { git: [unit(UNIT, [a])], inventory: [entry(a)] },
      'create ConfigMap default/a: not found, or without its owner labels',
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
      'never takes over an object of another hub',
      { git: [unit(UNIT, [a])], cluster: [withLabels(live(a), OTHER_HUB)] },
      'wait ConfigMap default/a: another hub owns it: label kubenode.dev/hub',
    ],
    [
      'never takes an object from another Pipeline of the same hub',
      { git: [unit(UNIT, [a])], cluster: [withLabels(live(a), OTHER_UNIT)] },
      'wait ConfigMap default/a: another Pipeline owns it: label kubenode.dev/unit',
    ],
    [
      'never takes an object from another Pipeline, although its write was intended',
      {
        git: [unit('fleet.web', [a])],
        inventory: [entry(a, { unit: 'fleet.web' })],
        cluster: [withLabels(live(a), { 'kubenode.dev/unit': 'another.web' })],
      },
      'wait ConfigMap default/a: another Pipeline owns it: label kubenode.dev/unit',
    ],
    [
      'waits for an object that is being deleted',
      { git: [unit(UNIT, [a])], inventory: [entry(a)], cluster: [terminating(a)] },
      'wait ConfigMap default/a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y; git declares it, so it is created again once that has ended',
    ],
    [
      'S3 writes nothing to an object that it cannot read',
      { git: [unit(UNIT, [a])], unknown: () => true },
      'wait ConfigMap default/a: ConfigMap cannot be read',
    ],
    [
      'S5 hands an object over to its new unit',
      { git: [unit('other', [a])], inventory: [entry(a)], cluster: [live(a)] },
      'update ConfigMap default/a: moved from unit web',
    ],
  ])('%s', (_name, scenario, expected) => {
    expect(explain(scenario)).toBe(expected);
  });

  it('accepts the normalized form in which the server stores an object, and no other', () => {
    const normalized = configMap('a', { key: 'normalized' });
    const scenario: ApplyScenario = {
      git: [unit(UNIT, [a])],
      inventory: [entry(a)],
      cluster: [live(normalized)],
    };
    const [planned] = planTarget(applyInput(scenario)).objects;
    if (!planned) throw new Error('expected one object in the plan');
    const serverForms = new Map([
      [
        objectKey(objectIdOf(a)),
        { digest: digestOf(a), projection: projectionOf(planned.object, live(normalized)) },
      ],
    ]);
    expect(explain({ ...scenario, more: { serverForms } })).toBe(
      'same ConfigMap default/a: matches git after server-side normalization',
    );
    const foreign = {
      ...scenario,
      cluster: [live(configMap('a', { key: 'something else' }))],
      more: { serverForms },
    };
    expect(explain(foreign)).toContain('correct');
  });

  it('S9 writes a namespace before its objects, and deletes it after them', () => {
    const inside = { ...a, metadata: { name: 'a', namespace: 'web' } };
    const git = [unit(UNIT, [inside, namespace('web')])];
    expect(explain({ git })).toBe('create Namespace web: new in git; create ConfigMap web/a: new in git');
    const { prune } = planTarget(
      applyInput({
        git: [unit('x', [])],
        inventory: [entry(inside), entry(namespace('web'))],
        cluster: [live(inside), live(namespace('web'))],
      }),
    );
    expect(prune.map((item) => objectKey(item.entry))).toEqual(['ConfigMap web/a', 'Namespace web']);
  });

  it('S3 deletes and writes nothing that is unknown, in any combination of states', () => {
    const state = fc.constantFrom('present', 'missing', 'foreign', 'unknown');
    fc.assert(
      fc.property(fc.array(fc.record({ state, declared: fc.boolean() }), { maxLength: 30 }), (items) => {
        const objects = items.map((item, index) => ({ ...item, object: configMap(`c${index}`) }));
        const unknown = new Set(
          objects.filter((item) => item.state === 'unknown').map(({ object }) => object.metadata.name),
        );
        const plan = planTarget(
          applyInput({
            git: [
              unit(
                UNIT,
                objects.filter(({ declared }) => declared).map(({ object }) => object),
              ),
            ],
            inventory: objects.map(({ object }) => entry(object)),
            cluster: objects.flatMap((item) => {
              if (item.state === 'missing') return [];
              return item.state === 'foreign'
                ? [withLabels(live(item.object), OTHER_HUB)]
                : [live(item.object)];
            }),
            unknown: ({ name }) => unknown.has(name),
            more: { budget: { maxObjects: 1000, maxPercent: 100 }, acknowledgements: [] },
          }),
        );
        const deletable = new Set(
          objects
            .filter((item) => item.state === 'present' && !item.declared)
            .map(({ object }) => object.metadata.name),
        );
        const deleted = plan.prune.filter(({ action }) => action === 'delete').map((item) => item.entry.name);
        expect(deleted.filter((name) => !deletable.has(name))).toEqual([]);
        const written = plan.objects.filter(({ action }) => action !== 'wait').map(({ id }) => id.name);
        expect(written.filter((name) => unknown.has(name))).toEqual([]);
      }),
    );
  });
});

function explain(scenario: ApplyScenario): string {
  const { objects } = planTarget(applyInput(scenario));
  return objects.map(({ action, id, because }) => `${action} ${objectKey(id)}: ${because}`).join('; ');
}

describe('planTarget with an encrypted object', () => {
  const secret = encryptedObject('secret.yaml');
  const [git] = [unit(UNIT, [secret])];
  const [rendered] = git.objects;
  const opened = sentForm({ ...secret, stringData: { password: 'canary' } });
  const foreign = { ...opened, data: { ...(opened['data'] as object), password: 'Zm9yZWlnbg==' } };
  const readable: DecryptedObjects = new Map(rendered ? [[rendered, { object: opened }]] : []);
  const unreadable: DecryptedObjects = new Map(rendered ? [[rendered, { problem: 'no key' }]] : []);
  const applied = [entry(secret)];

  it.each<[name: string, scenario: ApplyScenario, expected: string]>([
    [
      'S29 creates it with its values',
      { more: { decrypted: readable } },
      'create Secret shop/db: new in git',
    ],
    [
      'S29 holds it back while it cannot be decrypted',
      { more: { decrypted: unreadable } },
      'wait Secret shop/db: no key',
    ],
    [
      'waits for the next reconcile if it was deleted after its values seemed not to be needed',
      { inventory: applied, more: { decrypted: new Map() } },
      'wait Secret shop/db: it was deleted while other objects were decrypted: the next reconcile creates it',
    ],
    [
      'shows a creation where a plan has no keys',
      { inventory: applied },
      'create Secret shop/db: not found, or without its owner labels',
    ],
    [
      'does not call it in sync while it cannot be decrypted',
      { inventory: applied, cluster: [live(opened)], more: { decrypted: unreadable } },
      'wait Secret shop/db: no key',
    ],
    [
      'compares its values with the cluster',
      { inventory: applied, cluster: [live(opened)], more: { decrypted: readable } },
      'same Secret shop/db: matches git',
    ],
    [
      'S29 corrects drift of a value, and names only its field',
      { inventory: applied, cluster: [live(foreign)], more: { decrypted: readable } },
      'correct Secret shop/db: changed in the cluster: data.password',
    ],
    [
      'S29 writes it again when it was encrypted again, even with the same value',
      { inventory: [entry({ ...secret, sops: {} })], cluster: [live(opened)], more: { decrypted: readable } },
      'update Secret shop/db: changed in git',
    ],
    [
      'compares by what was applied last where a plan has no keys',
      { inventory: applied, cluster: [live(foreign)] },
      'same Secret shop/db: the same as last applied; its encrypted values are not compared',
    ],
    [
      'shows a change where a plan has no keys',
      { cluster: [live(foreign)] },
      'update Secret shop/db: not confirmed yet',
    ],
  ])('%s', (_name, scenario, expected) => {
    const plan = planTarget(applyInput({ git: [git], ...scenario }));
    const [text] = plan.objects.map((item) => `${item.action} ${objectKey(item.id)}: ${item.because}`);
    expect(text).toBe(expected);
    expect(text).not.toContain('canary');
  });

  it('S29 sends the values, and keeps the digest of the encrypted text for the inventory', () => {
    const [plan] = planTarget(applyInput({ git: [git], more: { decrypted: readable } })).objects;
    expect(plan?.object['data']).toMatchObject({ password: 'Y2FuYXJ5' });
    expect(plan?.object['sops']).toBeUndefined();
    expect(plan?.digest).toBe(digestOf(secret));
  });

  it('decrypts only what is not known to match the cluster', () => {
    const found = live(opened);
    const input = applyInput({
      git: [git],
      inventory: applied,
      cluster: [found],
      more: { decrypted: readable },
    });
    expect(objectsToDecrypt(input)).toEqual([rendered]);
    planTarget(input);
    expect(objectsToDecrypt(input)).toEqual([]);
    expect(
      objectsToDecrypt(applyInput({ git: [git], inventory: applied, cluster: [live(opened)] })),
    ).toHaveLength(1);
    expect(objectsToDecrypt(applyInput({ git: [git], cluster: [found] }))).toHaveLength(1);
    const moved = [entry(secret, { unit: 'other' })];
    expect(objectsToDecrypt(applyInput({ git: [git], inventory: moved, cluster: [found] }))).toHaveLength(1);
    expect(objectsToDecrypt(applyInput({ git: [unit(UNIT, [a])] }))).toEqual([]);
  });

  it('asks for the values again after it did not match', () => {
    const input = applyInput({
      git: [git],
      inventory: applied,
      cluster: [live(foreign)],
      more: { decrypted: readable },
    });
    planTarget(input);
    expect(objectsToDecrypt(input)).toEqual([rendered]);
  });
});
