import { describe, expect, it } from 'vitest';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, OwnerReference } from '../../../src/kube/objects/object.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { machine } from '../../support/builders.ts';

const NODE: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm-1' }, spec: {} };
const LEASE: KubeObject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } };

function createApi(): SimulatedApi {
  return createSimulatedApi({ nowMs: () => 0 });
}

describe('createSimulatedApi', () => {
  it('gives each write a version and an entry of the journal, and ignores what changes nothing', () => {
    const api = createApi();
    const created = api.put(NODE);
    expect(api.put(created)).toBe(created);
    const labeled = api.put({ ...created, metadata: { ...created.metadata, labels: { a: 'b' } } });
    expect(labeled.metadata.uid).toBe(created.metadata.uid);
    expect(labeled.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
    expect(api.journal.get('Node')).toMatchObject([
      { before: undefined, after: created },
      { before: created, after: labeled },
    ]);
  });

  it('writes an object with its status, whatever version is there', () => {
    const api = createApi();
    const { metadata: _, ...given } = machine('m-1', { status: { conditions: [] } });
    const put = (spec: object): KubeObject => api.put({ ...given, metadata: { name: 'm-1' }, spec });
    put(given.spec);
    const changed = put({ ...given.spec, agentEpoch: 7 });
    expect(changed).toMatchObject({ metadata: { generation: 2 }, status: { conditions: [] } });
  });

  it('fills in the defaults of the schema, also for a list that an apply empties', () => {
    const api = createApi();
    const { apiVersion, kind } = machine('m-1');
    const apply = (taints: readonly object[]): KubeObject =>
      api.apply(
        { apiVersion, kind, metadata: { name: 'm-1' }, spec: { node: { taints } } },
        { manager: 'm' },
      );
    const taint = { key: 'team', value: 'a', effect: 'NoSchedule' };
    expect(apply([taint])).toMatchObject({ spec: { agentEpoch: 0, node: { taints: [taint] } } });
    expect(apply([])).toMatchObject({ metadata: { generation: 2 }, spec: { node: { taints: [] } } });
  });

  it('answers as the client of a server does', () => {
    const api = createApi();
    expect(() => api.delete(NODES, { name: 'm-1' })).toThrow(
      expect.objectContaining({ code: 'NotFound', status: 404 }),
    );
    api.put(NODE);
    const test = { op: 'test', path: '/metadata/uid', value: 'another' } as const;
    expect(() => api.patch(NODES, { name: 'm-1' }, [test], { manager: 'm' })).toThrow(
      expect.objectContaining({ code: 'Invalid', status: 422, causes: [] }),
    );
  });

  it('keeps in the journal what was deleted, with the removal of its last finalizer', () => {
    const api = createApi();
    api.put({ ...NODE, metadata: { name: 'm-1', finalizers: ['a'] } });
    const kept = api.delete(NODES, { name: 'm-1' });
    const remove = { op: 'remove', path: '/metadata/finalizers/0' } as const;
    api.patch(NODES, { name: 'm-1' }, [remove], { manager: 'm' });
    expect(api.journal.get('Node')?.at(-1)).toMatchObject({ before: kept, after: undefined });
  });

  it('deletes what belongs only to an object that was deleted, and nothing else', () => {
    const api = createApi();
    const { apiVersion, kind, metadata } = api.put(NODE);
    const ownerOf = (uid: string): OwnerReference => ({ apiVersion, kind, name: 'm-1', uid });
    const [owner, another] = [ownerOf(metadata.uid ?? ''), ownerOf('another')];
    for (const [name, ownerReferences] of [
      ['its', [owner]],
      ['of-another', [another]],
      ['of-both', [owner, another]],
    ] as const) {
      api.put({ ...LEASE, metadata: { name, ownerReferences } });
    }
    api.put({ ...LEASE, metadata: { name: 'of-nothing' } });
    api.delete(NODES, { name: 'm-1' });
    const left = api.list(LEASES).map((each) => [each.metadata.name, each.metadata.ownerReferences]);
    expect(left).toEqual([
      ['of-another', [another]],
      ['of-both', [another]],
      ['of-nothing', undefined],
    ]);
  });
});
