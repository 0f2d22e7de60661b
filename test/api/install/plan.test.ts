import { describe, expect, it } from 'vitest';
import {
  type CustomResourceDefinition,
  changeOf,
  crdObjection,
  crdState,
  versionObjection,
} from '../../../src/api/install/plan.ts';

describe('versionObjection', () => {
  it.each<[gitVersion: string | undefined, fine: boolean]>([
    ['v1.31.0', true],
    ['v1.36.3', true],
    ['v1.31.4-gke.1183000', true],
    ['v1.100.0', true],
    ['v1.30.9', false],
    ['v1.9.0', false],
    ['v1.3.1', false],
    ['1.31.0', false],
    ['v2.0.0', false],
    ['nginx', false],
    [undefined, false],
  ])('%s: %s', (gitVersion, fine) => {
    const objection = versionObjection('https://there', gitVersion === undefined ? {} : { gitVersion });
    expect(objection === undefined).toBe(fine);
  });

  it('says what is there, what is needed, and where', () => {
    expect(versionObjection('https://there', { gitVersion: 'v1.30.9' })).toBe(
      'https://there is Kubernetes v1.30.9, and kubenode needs 1.31 or newer: upgrade the cluster first',
    );
  });
});

describe('crdObjection', () => {
  it.each<[it: string, live: CustomResourceDefinition, objection: string | undefined]>([
    ['takes the same one', crd(), undefined],
    ['takes one whose stored version stays', crd({ stored: ['v1alpha1'] }), undefined],
    [
      'drops no version that is served',
      crd({ versions: ['v1alpha1', 'v1'] }),
      'CRD machines.kubenode.dev has version v1, and this kubenode knows only v1alpha1: objects of it would be lost. ' +
        'Use the kubenode that installed it, or a newer one',
    ],
    [
      'drops no version that is only stored',
      crd({ stored: ['v0', 'v1alpha1'] }),
      'CRD machines.kubenode.dev has version v0, and this kubenode knows only v1alpha1: objects of it would be lost. ' +
        'Use the kubenode that installed it, or a newer one',
    ],
    [
      'takes no other scope',
      crd({ scope: 'Namespaced' }),
      'CRD machines.kubenode.dev is not ours (kubenode.dev Machine, Namespaced instead of kubenode.dev Machine, Cluster): ' +
        'remove it, or use another cluster',
    ],
    [
      'takes no other kind',
      crd({ kind: 'Engine' }),
      'CRD machines.kubenode.dev is not ours (kubenode.dev Engine, Cluster instead of kubenode.dev Machine, Cluster): ' +
        'remove it, or use another cluster',
    ],
    [
      'waits for one that goes',
      crd({ deleted: true }),
      'CRD machines.kubenode.dev is being deleted: wait until it is gone, or take its finalizers off',
    ],
  ])('%s', (_, live, objection) => {
    expect(crdObjection(crd(), live)).toBe(objection);
  });
});

describe('crdState', () => {
  it.each<[it: string, conditions: [string, string][], state: object]>([
    ['knows nothing without conditions', [], { established: false }],
    [
      'waits',
      [
        ['NamesAccepted', 'True'],
        ['Established', 'False'],
      ],
      { established: false },
    ],
    [
      'is done',
      [
        ['NamesAccepted', 'True'],
        ['Established', 'True'],
      ],
      { established: true },
    ],
    [
      'says what stands in the way',
      [['NamesAccepted', 'False']],
      { established: false, objection: 'NamesAccepted: False' },
    ],
  ])('%s', (_, conditions, state) => {
    const listed = conditions.map(([type, status]) => ({ type, status, message: `${type}: ${status}` }));
    expect(crdState({ ...crd(), status: { conditions: listed } })).toEqual(state);
  });
});

describe('changeOf', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', resourceVersion: '1' },
    data: { a: '1' },
  };

  it.each<[it: string, before: typeof object | undefined, after: object, change: string]>([
    ['is created where nothing was', undefined, {}, 'created'],
    ['is unchanged with the same content', object, {}, 'unchanged'],
    [
      'does not count bookkeeping',
      object,
      { metadata: { name: 'a', resourceVersion: '2', generation: 2, managedFields: [] } },
      'unchanged',
    ],
    ['does not count status', object, { status: { ready: true } }, 'unchanged'],
    ['counts content', object, { data: { a: '2' } }, 'configured'],
    ['counts labels', object, { metadata: { name: 'a', labels: { a: 'b' } } }, 'configured'],
  ])('%s', (_, before, after, change) => {
    expect(changeOf(before, { ...object, ...after })).toBe(change);
  });
});

interface Some {
  readonly kind?: string;
  readonly scope?: string;
  readonly versions?: readonly string[];
  readonly stored?: readonly string[];
  readonly deleted?: boolean;
}

function crd({
  kind = 'Machine',
  scope = 'Cluster',
  versions = ['v1alpha1'],
  stored,
  deleted,
}: Some = {}): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'machines.kubenode.dev',
      ...(deleted === true ? { deletionTimestamp: '2026-11-20T07:00:05Z' } : {}),
    },
    spec: { group: 'kubenode.dev', scope, names: { kind }, versions: versions.map((name) => ({ name })) },
    ...(stored === undefined ? {} : { status: { storedVersions: stored } }),
  };
}
