import { describe, expect, it } from 'vitest';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../src/sim/rollout/api-server.ts';

const NODE: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm-1' }, spec: {} };
const LEASE: KubeObject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } };

function defaulted(object: KubeObject): KubeObject {
  return { ...object, spec: { taints: [], unschedulable: false } };
}

function createApi(): SimulatedApi {
  return createSimulatedApi({ nowMs: () => 0, changed: () => {} });
}

describe('createSimulatedApi', () => {
  it('gives each write a version, each spec a generation, and ignores what changes nothing', () => {
    const api = createApi();
    const created = api.put(NODE);
    expect(api.put(created)).toBe(created);
    const labeled = api.put({ ...created, metadata: { ...created.metadata, labels: { a: 'b' } } });
    expect(labeled.metadata).toMatchObject({
      uid: created.metadata.uid,
      resourceVersion: '2',
      generation: 1,
    });
    expect(api.put({ ...labeled, spec: { unschedulable: true } }).metadata.generation).toBe(2);
    expect(api.journal.get('Node')).toHaveLength(3);
  });

  it.each([
    ['another version', { resourceVersion: '7' }],
    ['another object of that name', { uid: 'another' }],
  ])('refuses an apply to %s', (_, metadata) => {
    const api = createApi();
    api.put(NODE);
    const apply = (more: object): unknown =>
      api.apply({ ...NODE, metadata: { name: 'm-1', ...more }, spec: { taints: [] } }, 'm', 'spec');
    expect(() => apply(metadata)).toThrow('has changed');
    expect(apply({ resourceVersion: '1' })).toMatchObject({ spec: { taints: [] } });
  });

  it('creates by an apply what does not exist, with its defaults, unless it has a UID or is a status', () => {
    const api = createSimulatedApi({ nowMs: () => 0, changed: () => {}, defaulted });
    expect(() => api.apply({ ...NODE, metadata: { name: 'm-1', uid: 'a' } }, 'm', 'spec')).toThrow(
      'has changed',
    );
    expect(() => api.apply(NODE, 'm', 'status')).toThrow('Node m-1 was not found');
    expect(api.apply(NODE, 'm', 'spec')).toMatchObject({
      metadata: { name: 'm-1', generation: 1 },
      spec: { taints: [], unschedulable: false },
    });
    expect(api.apply({ ...NODE, spec: { taints: ['a'] } }, 'm', 'spec')).toMatchObject({
      spec: { taints: ['a'] },
    });
  });

  it.each([
    ['another version', { resourceVersion: '7' }],
    ['another object of that name', { uid: 'another' }],
  ])('does not delete %s', (_, only) => {
    const api = createApi();
    const { uid = '', resourceVersion = '' } = api.put(NODE).metadata;
    expect(() => api.delete(NODES, { name: 'm-1' }, only)).toThrow('has changed');
    api.delete(NODES, { name: 'm-1' }, { uid, resourceVersion });
    expect(api.list(NODES)).toEqual([]);
  });

  it('keeps what is deleted until its last finalizer is removed', () => {
    const api = createApi();
    api.put({ ...NODE, metadata: { name: 'm-1', finalizers: ['a'] } });
    expect(api.delete(NODES, { name: 'm-1' })?.metadata.deletionTimestamp).toBeDefined();
    expect(api.list(NODES)).toHaveLength(1);
    api.patch(NODES, { name: 'm-1' }, [{ op: 'remove', path: '/metadata/finalizers/0' }]);
    expect(api.get(NODES, 'm-1')).toBeUndefined();
    expect(api.journal.get('Node')?.at(-1)?.after).toBeUndefined();
    expect(() => api.delete(NODES, { name: 'm-1' })).toThrow('Node m-1 was not found');
  });

  it('deletes what belongs to an object that was deleted, and nothing else', () => {
    const api = createApi();
    const { apiVersion, kind, metadata } = api.put(NODE);
    const owner = { apiVersion, kind, name: 'm-1', uid: metadata.uid ?? '' };
    for (const [name, uid] of [
      ['its', owner.uid],
      ['of-another', 'another'],
    ] as const) {
      api.put({ ...LEASE, metadata: { name, ownerReferences: [{ ...owner, uid }] } });
    }
    api.put({ ...LEASE, metadata: { name: 'of-nothing' } });
    api.delete(NODES, { name: 'm-1' });
    expect(api.list(LEASES).map((each) => each.metadata.name)).toEqual(['of-another', 'of-nothing']);
  });
});
