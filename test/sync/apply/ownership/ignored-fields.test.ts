import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import {
  type FieldPolicy,
  ignoredPaths,
  leaveIgnored,
  stepsOf,
  withoutIgnored,
} from '../../../../src/sync/apply/ownership/ignored-fields.ts';

const VERSION = { resourceVersion: '7' };

function deployment(spec: object, metadata: object = {}): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', ...metadata }, spec };
}

function byUs(fieldsV1: unknown): ManagedFields {
  return { manager: 'kubenode-sync', operation: 'Apply', fieldsV1 };
}

function liveWith(spec: object, managedFields: readonly ManagedFields[], metadata: object = {}): KubeObject {
  return deployment(spec, { ...metadata, ...VERSION, managedFields });
}

const OWNS_REPLICAS = byUs({ 'f:spec': { 'f:replicas': {}, 'f:paused': {} } });
const OWNS_PAUSED = byUs({ 'f:spec': { 'f:paused': {} } });
const AUTOSCALER: ManagedFields = {
  manager: 'autoscaler',
  operation: 'Update',
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
};

describe('ignoredPaths', () => {
  const replicas: FieldPolicy = { kind: 'Deployment', path: 'spec.replicas', policy: 'Ignore' };
  it.each<[name: string, policy: FieldPolicy, objects: { unit: string; kind: string }, expected: string[]]>([
    ['all units', replicas, { unit: 'web', kind: 'Deployment' }, ['spec.replicas']],
    ['no other kind', replicas, { unit: 'web', kind: 'MachineSet' }, []],
    ['its unit', { ...replicas, unit: 'web' }, { unit: 'web', kind: 'Deployment' }, ['spec.replicas']],
    ['no other unit', { ...replicas, unit: 'db' }, { unit: 'web', kind: 'Deployment' }, []],
  ])('a policy is for %s', (_name, policy, objects, expected) => {
    expect(ignoredPaths([policy], objects)).toEqual(expected);
  });
});

describe('stepsOf', () => {
  it.each([
    ['spec.replicas', ['spec', 'replicas']],
    ['data["a.conf"]', ['data', 'a.conf']],
    ['metadata.annotations["example.com/a"]', ['metadata', 'annotations', 'example.com/a']],
    ['data["a"].b', ['data', 'a', 'b']],
  ])('reads %s', (path, expected) => {
    expect(stepsOf(path)).toEqual(expected);
  });
});

describe('withoutIgnored', () => {
  it('leaves out each ignored field that git sets, and changes nothing else', () => {
    const object = deployment({ replicas: 3, paused: true });
    expect(withoutIgnored(object, ['spec.replicas', 'spec.none'])).toEqual(deployment({ paused: true }));
    expect(withoutIgnored(object, [])).toBe(object);
  });
});

describe('leaveIgnored', () => {
  const desired = deployment({ replicas: 3, paused: true });
  it.each<[name: string, live: KubeObject, sent: object, version: object]>([
    [
      'sends the live value of a field that sync owns, bound to that version: without it the server would remove the field',
      liveWith({ replicas: 5, paused: true }, [OWNS_REPLICAS]),
      { replicas: 5, paused: true },
      VERSION,
    ],
    [
      'does not send a field that another client has taken over',
      liveWith({ replicas: 5, paused: true }, [OWNS_PAUSED, AUTOSCALER]),
      { paused: true },
      {},
    ],
    [
      'does not send a field whose owners are unknown',
      liveWith({ replicas: 5, paused: true }, []),
      { paused: true },
      {},
    ],
    [
      'does not count an update in the name of sync as its apply',
      liveWith({ replicas: 5 }, [{ ...OWNS_REPLICAS, operation: 'Update' }]),
      { paused: true },
      {},
    ],
    [
      'does not create a field again that another client removed',
      liveWith({ paused: true }, [OWNS_REPLICAS]),
      { paused: true },
      {},
    ],
  ])('%s', (_name, live, spec, version) => {
    expect(leaveIgnored(desired, live, ['spec.replicas'])).toEqual({ object: deployment(spec), ...version });
  });

  it.each<[name: string, declared: KubeObject]>([
    ['the field', deployment({ paused: true })],
    ['the record in which it is', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } }],
  ])('S10 keeps the live value of a field that sync owns after git removed %s', (_name, declared) => {
    const live = liveWith({ replicas: 5, paused: true }, [OWNS_REPLICAS]);
    const { object, resourceVersion } = leaveIgnored(declared, live, ['spec.replicas']);
    expect(object['spec']).toEqual({ ...(declared['spec'] as object | undefined), replicas: 5 });
    expect(resourceVersion).toBe('7');
  });

  it('does not send again a field that git removed and another client has taken over', () => {
    const declared = deployment({ paused: true });
    const live = liveWith({ replicas: 5, paused: true }, [OWNS_PAUSED, AUTOSCALER]);
    expect(leaveIgnored(declared, live, ['spec.replicas'])).toEqual({ object: declared });
  });

  it('keeps of an ignored record only what sync owns', () => {
    const owns = byUs({
      'f:spec': { 'f:template': { 'f:a': {}, 'f:inner': { 'f:b': {} }, 'f:list': { 'k:{}': {} } } },
    });
    const template = { a: 1, inner: { b: 2, theirs: 3 }, list: [{ x: 1 }], theirs: 4 };
    const declared = deployment({ template: { a: 9, inner: { b: 9 } } });
    expect(leaveIgnored(declared, liveWith({ template }, [owns]), ['spec.template']).object).toEqual(
      deployment({ template: { a: 1, inner: { b: 2 }, list: [{ x: 1 }] } }),
    );
  });

  it('leaves one annotation alone, and no other', () => {
    const annotations = { 'example.com/a': 'git', b: 'git' };
    const live = liveWith({}, [], { annotations: { 'example.com/a': 'theirs', b: 'theirs' } });
    const { object } = leaveIgnored(deployment({}, { annotations }), live, [
      'metadata.annotations["example.com/a"]',
    ]);
    expect(object).toEqual(deployment({}, { annotations: { b: 'git' } }));
  });

  it.each(['spec.none', 'none', 'spec.replicas.none', 'spec.toString', 'spec["a.b"]'])(
    'returns the object as it is if neither git nor an apply of sync sets %s',
    (path) => {
      expect(leaveIgnored(desired, liveWith({ replicas: 5 }, [OWNS_REPLICAS]), [path])).toEqual({
        object: desired,
      });
    },
  );
});
