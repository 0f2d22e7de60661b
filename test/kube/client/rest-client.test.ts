/** The requests and reports of each call. */
import { describe, expect, it, vi } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
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
  status,
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
      (client) => client.get(NODES, { name: 'a/b' }),
      { ...NODE, metadata: { name: 'a/b' } },
      { path: '/api/v1/nodes/a%2Fb' },
    ],
    ['raw', (client) => client.raw('/readyz?verbose=1'), 'ok', { path: '/readyz', query: { verbose: '1' } }],
  ])('%s', async (_, call, answer, wire) => {
    const { client, sent } = createClientBed({ body: answer });
    await call(client);
    expect(sent).toEqual([expect.objectContaining(wire)]);
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

describe('the limiter', () => {
  it('gets from each answer whether the server is overloaded', async () => {
    const slowDown = { ...status(429, 'TooManyRequests'), headers: { 'retry-after': '7' } };
    const answers = [{ body: NODE }, slowDown, status(503, 'ServiceUnavailable'), status(409, 'Conflict')];
    const { client, outcomes } = createClientBed(
      ...answers,
      new KubeError('Timeout', 'late'),
      new KubeError('Unreachable', 'no'),
    );
    for (let call = 0; call < 6; call += 1) await client.get(NODES, { name: 'a' }).catch(() => {});
    expect(outcomes).toEqual([
      { overloaded: false },
      { overloaded: true, retryAfterSeconds: 7 },
      { overloaded: true },
      { overloaded: false },
      { overloaded: true },
      { overloaded: false },
    ]);
  });
});

function denial(causes: readonly object[]): object {
  return {
    ...status(429, 'TooManyRequests', { details: { causes, retryAfterSeconds: 10 } }),
    headers: { 'retry-after': '10' },
  };
}

const evict = ({ client }: ReturnType<typeof createClientBed>): Promise<unknown> =>
  client.create(NODES, NODE, { subresource: 'eviction' }).catch(() => {});

describe('an eviction that a PodDisruptionBudget denies', () => {
  it('does not count as overload, so that other calls need not wait', async () => {
    const refused = createClientBed(
      denial([{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods' }]),
    );
    await evict(refused);
    expect(refused.outcomes).toEqual([{ overloaded: false }]);
  });

  it('differs from a 429 of priority and fairness, which counts', async () => {
    const overloaded = createClientBed(denial([]));
    await evict(overloaded);
    expect(overloaded.outcomes).toEqual([{ overloaded: true, retryAfterSeconds: 10 }]);
  });
});

describe('beforeSend', () => {
  it('reaches the transport with each kind of write', async () => {
    const beforeSend = vi.fn<() => void>();
    const { client, sent } = createClientBed({ body: NODE });
    await client.apply(NODES, NODE, { ...APPLY, beforeSend });
    await client.create(NODES, NODE, { beforeSend });
    await client.replace(NODES, NODE, { beforeSend });
    await client.patch(NODES, { name: 'a' }, { type: 'json', body: [] }, { beforeSend });
    await client.delete(NODES, { name: 'a' }, { uid: 'u', beforeSend });
    expect(sent.map((request) => request.beforeSend === beforeSend)).toEqual([true, true, true, true, true]);
  });
});

describe('reports', () => {
  it('have verb, status and duration of each call, and the error code when there was no answer', async () => {
    const { client, reports } = createClientBed(
      { body: NODE },
      status(404, 'NotFound'),
      new KubeError('Timeout', 'late'),
      '',
    );
    await client.get(NODES, { name: 'a' });
    await failing(client.get(NODES, { name: 'a' }));
    await failing(client.apply(NODES, NODE, APPLY));
    for await (const _ of client.watch(NODES, { resourceVersion: '1', timeoutSeconds: 1 })) break;
    expect(reports).toEqual([
      { verb: 'get', code: '200', seconds: 0 },
      { verb: 'get', code: '404', seconds: 0 },
      { verb: 'apply', code: 'Timeout', seconds: 0 },
      { verb: 'watch', code: '200', seconds: 0 },
    ]);
  });
});
