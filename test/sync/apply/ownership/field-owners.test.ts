import { describe, expect, it } from 'vitest';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import { otherManagers, ownersOfDrift } from '../../../../src/sync/apply/ownership/field-owners.ts';
import { APPLIED_BY_SYNC } from '../fixtures.ts';

type Containers = readonly Readonly<Record<string, unknown>>[];

function deployment(replicas: number | undefined, containers: Containers, labels: object = {}): KubeObject {
  const spec = { ...(replicas === undefined ? {} : { replicas }), template: { spec: { containers } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels: { ...labels } },
    spec,
  };
}

const DESIRED = deployment(3, [{ name: 'app', image: 'app:1', args: ['a'] }], { 'team.x/y': 'shop' });

function ownedBy(manager: string, fieldsV1: unknown, more: Partial<ManagedFields> = {}): ManagedFields {
  return { manager, operation: 'Update', time: '2030-01-01T00:00:00Z', fieldsV1, ...more };
}

function owners(live: KubeObject, ...managedFields: readonly ManagedFields[]): readonly string[] {
  const found = { ...live, metadata: { ...live.metadata, managedFields } };
  return ownersOfDrift(DESIRED, found).map(({ manager }) => manager);
}

const REPLICAS = { 'f:spec': { 'f:replicas': {} } };
const inApp = (fields: object): object => ({
  'f:spec': {
    'f:template': {
      'f:spec': { 'f:containers': { 'k:{"name":"app"}': { '.': {}, 'f:name': {}, ...fields } } },
    },
  },
});

describe('ownersOfDrift', () => {
  const scaled = deployment(9, [{ name: 'app', image: 'app:1', args: ['a'] }], { 'team.x/y': 'shop' });
  const edited = deployment(3, [{ name: 'app', image: 'app:2', args: ['b'] }], { 'team.x/y': 'other' });

  it.each<[string, KubeObject, ManagedFields, boolean]>([
    ['a field that differs', scaled, ownedBy('hpa', REPLICAS, { subresource: 'scale' }), true],
    ['a field of an item that differs', edited, ownedBy('kubectl-edit', inApp({ 'f:image': {} })), true],
    ['a list that differs as a whole', edited, ownedBy('kubectl-edit', inApp({ 'f:args': {} })), true],
    ['a key with dots', edited, ownedBy('x', { 'f:metadata': { 'f:labels': { 'f:team.x/y': {} } } }), true],
    ['a field as git has it', edited, ownedBy('hpa', REPLICAS), false],
    ['a field that git does not set', edited, ownedBy('x', inApp({ 'f:ports': {} })), false],
    ['a field with the name of a property of objects', edited, ownedBy('x', { 'f:constructor': {} }), false],
    [
      'an item that git does not declare',
      edited,
      ownedBy('x', { 'f:spec': { 'k:{"name":"b"}': {} } }),
      false,
    ],
    ['keys that are not JSON', edited, ownedBy('x', { 'f:spec': { 'k:{"name"': {} } }), false],
    ['nothing', edited, ownedBy('x', undefined), false],
  ])('decides about the owner of %s', (_, live, entry, expected) => {
    expect(owners(live, entry)).toEqual(expected ? [entry.manager] : []);
  });

  it('names every owner, and never sync itself', () => {
    const both = { ...inApp({ 'f:image': {} }) };
    const [own] = APPLIED_BY_SYNC.map((entry) => ({ ...entry, fieldsV1: both }));
    const all = [ownedBy('one', both), ownedBy('two', both), ...(own ? [own] : [])];
    expect(owners(edited, ...all)).toEqual(['one', 'two']);
  });
});

describe('otherManagers', () => {
  it('leaves out the applies of sync and what is reported in the status', () => {
    const update = ownedBy('kubenode-sync', REPLICAS);
    const entries = [
      ...APPLIED_BY_SYNC,
      ownedBy('controller', { 'f:status': {} }, { subresource: 'status' }),
      update,
    ];
    const object = { ...DESIRED, metadata: { name: 'web', managedFields: entries } };
    expect(otherManagers(object)).toEqual([update]);
    expect(otherManagers(DESIRED)).toEqual([]);
  });
});
