import { describe, expect, it } from 'vitest';
import {
  type CustomResourceDefinition,
  changeOf,
  crdRefusalReason,
  crdState,
  versionRefusalReason,
} from '../../../src/api/install/plan.ts';

describe('versionRefusalReason', () => {
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
  ])('accepts server version %s: %s', (gitVersion, fine) => {
    const reason = versionRefusalReason('https://there', gitVersion === undefined ? {} : { gitVersion });
    expect(reason === undefined).toBe(fine);
  });

  it('names the server, its version and the required version', () => {
    expect(versionRefusalReason('https://there', { gitVersion: 'v1.30.9' })).toBe(
      'https://there runs Kubernetes v1.30.9, but kubenode needs 1.31 or newer. Upgrade the cluster first',
    );
  });
});

describe('crdRefusalReason', () => {
  it.each<[it: string, live: CustomResourceDefinition, reason: string | undefined]>([
    ['accepts the same CRD', crd(), undefined],
    ['accepts a CRD whose stored version is kept', crd({ stored: ['v1alpha1'] }), undefined],
    [
      'refuses to drop a served version',
      crd({ versions: ['v1alpha1', 'v1'] }),
      'CRD machines.kubenode.dev has version v1, but this kubenode knows only v1alpha1: its objects would be lost. ' +
        'Use the kubenode release that installed it, or a newer one',
    ],
    [
      'refuses to drop a stored version',
      crd({ stored: ['v0', 'v1alpha1'] }),
      'CRD machines.kubenode.dev has version v0, but this kubenode knows only v1alpha1: its objects would be lost. ' +
        'Use the kubenode release that installed it, or a newer one',
    ],
    [
      'refuses another scope',
      crd({ scope: 'Namespaced' }),
      'CRD machines.kubenode.dev does not belong to kubenode: expected kubenode.dev Machine, Cluster, ' +
        'got kubenode.dev Machine, Namespaced. Remove it, or use another cluster',
    ],
    [
      'refuses another kind',
      crd({ kind: 'Engine' }),
      'CRD machines.kubenode.dev does not belong to kubenode: expected kubenode.dev Machine, Cluster, ' +
        'got kubenode.dev Engine, Cluster. Remove it, or use another cluster',
    ],
    [
      'refuses a CRD that is being deleted',
      crd({ deleted: true }),
      'CRD machines.kubenode.dev is being deleted: wait until it is deleted, or remove its finalizers',
    ],
  ])('%s', (_, live, reason) => {
    expect(crdRefusalReason(crd(), live)).toBe(reason);
  });
});

describe('crdState', () => {
  it.each<[it: string, conditions: [string, string][], state: object]>([
    ['is not established without conditions', [], { established: false }],
    [
      'is not established yet',
      [
        ['NamesAccepted', 'True'],
        ['Established', 'False'],
      ],
      { established: false },
    ],
    [
      'is established',
      [
        ['NamesAccepted', 'True'],
        ['Established', 'True'],
      ],
      { established: true },
    ],
    [
      'gives the reason when the names are not accepted',
      [['NamesAccepted', 'False']],
      { established: false, refusal: 'NamesAccepted: False' },
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
    ['is created if the object did not exist', undefined, {}, 'created'],
    ['is unchanged with the same content', object, {}, 'unchanged'],
    [
      'ignores server-managed metadata',
      object,
      { metadata: { name: 'a', resourceVersion: '2', generation: 2, managedFields: [] } },
      'unchanged',
    ],
    ['ignores status', object, { status: { ready: true } }, 'unchanged'],
    ['compares content', object, { data: { a: '2' } }, 'configured'],
    ['compares labels', object, { metadata: { name: 'a', labels: { a: 'b' } } }, 'configured'],
  ])('%s', (_, before, after, change) => {
    expect(changeOf(before, { ...object, ...after })).toBe(change);
  });
});

interface CrdOptions {
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
}: CrdOptions = {}): CustomResourceDefinition {
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
