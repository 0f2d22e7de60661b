import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import type { Transport } from '../../../src/kube/transport/transport.ts';
import { type Answer, failing, responseOf, SERVER } from '../../support/kube/client-bed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('createDiscovery', () => {
  const core = {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'nodes', kind: 'Node', namespaced: false },
      { name: 'nodes/status', kind: 'Node', namespaced: false },
      { name: 'pods', kind: 'Pod', namespaced: true },
    ],
  };
  const apps = {
    kind: 'APIResourceList',
    groupVersion: 'apps/v1',
    resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true }],
  };
  const groups = {
    kind: 'APIGroupList',
    groups: [{ name: 'apps', versions: [{ groupVersion: 'apps/v1', version: 'v1' }] }],
  };
  const versions = { kind: 'APIVersions', versions: ['v1'] };

  const OLD = {
    '/api': { body: versions },
    '/apis': { body: groups },
    '/api/v1': { body: core },
    '/apis/apps/v1': { body: apps },
  };

  it('finds one kind with one request, and caches it', async () => {
    const { client, requests } = server(OLD);
    const pod = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
    expect(await Promise.all([client.resourceFor('v1', 'Pod'), client.resourceFor('v1', 'Pod')])).toEqual([
      pod,
      pod,
    ]);
    expect(await client.resourceFor('v1', 'Node')).toMatchObject({ plural: 'nodes', namespaced: false });
    expect(requests).toEqual(['/api/v1']);
    client.forgetResources();
    await client.resourceFor('v1', 'Pod');
    expect(requests).toEqual(['/api/v1', '/api/v1']);
  });

  it.each(['../../x', '../x', 'a/b/c', 'apps/..', '/v1', 'v1/', ''])(
    'sends no request for the apiVersion %j',
    async (apiVersion) => {
      const { client, requests } = server(OLD);
      expect(await failing(client.resourceFor(apiVersion, 'Pod'))).toMatchObject({ code: 'Invalid' });
      expect(requests).toEqual([]);
    },
  );

  it('reads again when a kind is missing, because its CRD may be new', async () => {
    const paths: Record<string, Answer> = { ...OLD };
    const { client } = server(paths);
    await client.resourceFor('apps/v1', 'Deployment');
    expect(await failing(client.resourceFor('apps/v1', 'Thing'))).toMatchObject({ code: 'NotFound' });
    paths['/apis/apps/v1'] = {
      body: { ...apps, resources: [...apps.resources, { name: 'things', kind: 'Thing', namespaced: true }] },
    };
    expect(await client.resourceFor('apps/v1', 'Thing')).toMatchObject({ plural: 'things' });
  });

  it('rejects with NotFound for a group only when the list of groups lacks it', async () => {
    expect(await failing(server(OLD).client.resourceFor('kubenode.dev/v1alpha1', 'Machine'))).toMatchObject({
      code: 'NotFound',
      message: `discover Machine of kubenode.dev/v1alpha1 at ${SERVER}: the server does not serve this kind: check that its CRD is installed`,
    });
    const listed = { kind: 'APIGroupList', groups: [{ name: 'x', versions: [{ groupVersion: 'x/v1' }] }] };
    expect((await failing(server({ '/apis': { body: listed } }).client.resourceFor('x/v1', 'X'))).code).toBe(
      'BadAnswer',
    );
    expect((await failing(server({}).client.resourceFor('x/v1', 'X'))).code).toBe('BadAnswer');
  });

  it('reads all kinds, with one request for each group on an old server', async () => {
    const kinds = (await server(OLD).client.resources()).map(({ group, kind }) => `${group}/${kind}`);
    expect(kinds).toEqual(['/Node', '/Pod', 'apps/Deployment']);
  });

  it('reads all kinds with two requests where the server supports it', async () => {
    const { client, requests } = server({ '/api': aggregate(''), '/apis': aggregate('apps') });
    expect((await client.resources()).map(({ group, plural }) => `${group}/${plural}`)).toEqual([
      '/deployments',
      'apps/deployments',
    ]);
    expect(requests).toEqual(['/api', '/apis']);
  });

  it.each<[string, Readonly<Record<string, Answer>>, KubeErrorCode]>([
    [
      'a group whose server is unavailable',
      { ...OLD, '/apis/apps/v1': { status: 503, body: 'service unavailable' } },
      'ServerError',
    ],
    [
      'a group that is listed and not served',
      { ...OLD, '/apis/apps/v1': { status: 404, body: '404 page not found' } },
      'BadAnswer',
    ],
    ['an empty group', { ...OLD, '/apis/apps/v1': { body: '' } }, 'BadAnswer'],
    [
      'a group without resources',
      { ...OLD, '/apis/apps/v1': { body: { kind: 'APIResourceList' } } },
      'BadAnswer',
    ],
    ['no list of groups', { ...OLD, '/apis': { body: {} } }, 'BadAnswer'],
    [
      'a stale group',
      { '/api': aggregate(''), '/apis': aggregate('metrics.k8s.io', 'Stale') },
      'ServerError',
    ],
  ])('rejects %s', async (_, paths, code) => {
    const { client } = server(paths);
    expect((await failing(client.resources())).code).toBe(code);
  });
});

function aggregate(name: string, freshness = 'Current'): Answer {
  const resources = [
    { resource: 'deployments', responseKind: { kind: 'Deployment' }, scope: 'Namespaced' },
    { resource: 'odd', responseKind: null, scope: 'Namespaced' },
  ];
  return {
    body: {
      kind: 'APIGroupDiscoveryList',
      items: [{ metadata: { name }, versions: [{ version: 'v1', freshness, resources }] }],
    },
  };
}

/** A server with fixed answers by path. */
function server(paths: Readonly<Record<string, Answer>>): { client: Client; requests: string[] } {
  const requests: string[] = [];
  const transport: Transport = {
    request: async ({ path }) => {
      requests.push(path);
      return responseOf(paths[path] ?? { status: 404, body: '404 page not found' });
    },
    stream: () => Promise.reject(new Error('no')),
    close: () => Promise.resolve(),
  };
  return { client: createRestClient(transport, { server: SERVER, clock: virtualClock() }), requests };
}
