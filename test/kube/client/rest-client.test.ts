/** The requests and reports of each call. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import type { HttpRequest } from '../../../src/kube/transport/transport.ts';
import {
  APPLY,
  createClientBed,
  failing,
  listAnswer,
  MACHINE,
  MACHINES,
  NODE,
  NODES,
} from '../../support/kube/client-bed.ts';

describe('requests', () => {
  it.each<
    [name: string, call: (client: Client) => Promise<unknown>, answer: unknown, wire: Partial<HttpRequest>]
  >([
    ['get', (client) => client.get(NODES, { name: 'a' }), NODE, { method: 'GET', path: '/api/v1/nodes/a' }],
    [
      'get of a subresource',
      (client) => client.get(MACHINES, { name: 'm', namespace: 'x' }, { subresource: 'scale' }),
      { kind: 'Scale' },
      { path: '/apis/kubenode.dev/v1alpha1/namespaces/x/machines/m/scale' },
    ],
    [
      'list',
      (client) => client.list(NODES, { labelSelector: 'a=b', limit: 7, continue: 'c' }),
      listAnswer([]).body,
      {
        path: '/api/v1/nodes',
        query: {
          labelSelector: 'a=b',
          limit: '7',
          continue: 'c',
          fieldSelector: undefined,
          resourceVersion: undefined,
        },
      },
    ],
    [
      'list of all namespaces, in pages by itself',
      (client) => client.list(MACHINES),
      { kind: 'MachineList', items: [], metadata: { resourceVersion: '1' } },
      {
        path: '/apis/kubenode.dev/v1alpha1/machines',
        query: expect.objectContaining({ limit: '500' }) as never,
      },
    ],
    [
      'apply',
      (client) => client.apply(MACHINES, MACHINE, { fieldManager: 'me', force: true, dryRun: true }),
      MACHINE,
      {
        method: 'PATCH',
        path: '/apis/kubenode.dev/v1alpha1/namespaces/x/machines/m',
        query: { fieldManager: 'me', fieldValidation: 'Strict', force: 'true', dryRun: 'All' },
        contentType: 'application/apply-patch+yaml',
        body: JSON.stringify(MACHINE),
      },
    ],
    [
      'apply of a status',
      (client) => client.apply(MACHINES, MACHINE, { fieldManager: 'me', subresource: 'status' }),
      MACHINE,
      {
        path: '/apis/kubenode.dev/v1alpha1/namespaces/x/machines/m/status',
        query: expect.objectContaining({ force: 'false' }) as never,
      },
    ],
    [
      'create',
      (client) => client.create(NODES, NODE),
      NODE,
      {
        method: 'POST',
        path: '/api/v1/nodes',
        query: expect.objectContaining({ fieldValidation: 'Strict' }) as never,
      },
    ],
    [
      'create of a subresource',
      (client) => client.create(MACHINES, MACHINE, { subresource: 'eviction' }),
      { kind: 'Status', status: 'Success' },
      { method: 'POST', path: '/apis/kubenode.dev/v1alpha1/namespaces/x/machines/m/eviction' },
    ],
    [
      'replace',
      (client) => client.replace(NODES, NODE),
      NODE,
      { method: 'PUT', path: '/api/v1/nodes/a', body: JSON.stringify(NODE) },
    ],
    [
      'merge patch',
      (client) =>
        client.patch(NODES, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: null } } }),
      NODE,
      {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: '{"spec":{"unschedulable":null}}',
      },
    ],
    [
      'json patch',
      (client) => client.patch(NODES, { name: 'a' }, { type: 'json', body: [{ op: 'test' }] }),
      NODE,
      { contentType: 'application/json-patch+json', body: '[{"op":"test"}]' },
    ],
    [
      'delete',
      (client) =>
        client.delete(
          NODES,
          { name: 'a' },
          { uid: 'u', resourceVersion: '5', propagation: 'Orphan', dryRun: true },
        ),
      { kind: 'Status', status: 'Success' },
      {
        method: 'DELETE',
        path: '/api/v1/nodes/a',
        body: '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u","resourceVersion":"5"},"propagationPolicy":"Orphan","dryRun":["All"]}',
      },
    ],
    [
      'names with odd characters',
      (client) => client.get(NODES, { name: 'a:b?c#d' }),
      { ...NODE, metadata: { name: 'a:b?c#d' } },
      { path: '/api/v1/nodes/a%3Ab%3Fc%23d' },
    ],
    ['raw', (client) => client.raw('/readyz?verbose=1'), 'ok', { path: '/readyz', query: { verbose: '1' } }],
  ])('%s', async (_, call, answer, wire) => {
    const { client, sent } = createClientBed({ body: answer });
    await call(client);
    expect(sent).toEqual([expect.objectContaining(wire)]);
  });

  it.each<[name: string, call: (client: Client) => Promise<unknown>]>([
    ['get', (client) => client.get(NODES, { name: 'a/b' })],
    ['list', (client) => client.list(MACHINES, { namespace: '..' })],
    ['apply', (client) => client.apply(NODES, { ...NODE, metadata: { name: '..' } }, { fieldManager: 'me' })],
    ['delete', (client) => client.delete(NODES, { name: 'a%2fb' }, { uid: 'u' })],
  ])('rejects a %s of a name that would reach another path, and sends nothing', async (_, call) => {
    const { client, sent } = createClientBed({ body: NODE });
    expect(await failing(call(client))).toMatchObject({ code: 'Invalid' });
    expect(sent).toEqual([]);
  });

  it('sends manifests unchanged, with fields that no type declares', async () => {
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'deny' },
      spec: { ingress: [{ from: [{ podSelector: {} }] }], newField: { 'x-y': [null, 0, ''] } },
    };
    const resource: Resource = {
      group: 'networking.k8s.io',
      version: 'v1',
      kind: 'NetworkPolicy',
      plural: 'networkpolicies',
      namespaced: true,
    };
    const { client, sent } = createClientBed({ body: policy });
    expect(await client.apply(resource, policy, APPLY)).toEqual(policy);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual(policy);
  });
});
