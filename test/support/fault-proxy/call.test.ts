import { describe, expect, it } from 'vitest';
import { parseCall } from './call.ts';

// method, target, and the expected call as `verb group/version resource/subresource namespace/name`.
describe('a request to an API server', () => {
  it.each<[method: string, target: string, expected: string]>([
    ['GET', '/api/v1/nodes', 'list /v1 nodes'],
    ['GET', '/api/v1/nodes/n-1', 'get /v1 nodes n-1'],
    ['GET', '/api/v1/nodes?watch=true&resourceVersion=7', 'watch /v1 nodes'],
    ['GET', '/api/v1/nodes?watch=1', 'watch /v1 nodes'],
    ['GET', '/api/v1/nodes?watch=false', 'list /v1 nodes'],
    ['GET', '/api/v1/namespaces', 'list /v1 namespaces'],
    ['GET', '/api/v1/namespaces/kube-system', 'get /v1 namespaces kube-system'],
    ['PUT', '/api/v1/namespaces/team/finalize', 'update /v1 namespaces/finalize team'],
    ['PATCH', '/api/v1/namespaces/team/status', 'patch /v1 namespaces/status team'],
    ['GET', '/api/v1/namespaces/team/pods', 'list /v1 pods team/'],
    ['GET', '/api/v1/namespaces/team/pods/status', 'get /v1 pods team/status'],
    ['GET', '/api/v1/namespaces/team/pods/p/log', 'get /v1 pods/log team/p'],
    ['DELETE', '/apis/apps/v1/namespaces/team/deployments/d', 'delete apps/v1 deployments team/d'],
    ['DELETE', '/apis/apps/v1/namespaces/team/deployments', 'deletecollection apps/v1 deployments team/'],
    [
      'PATCH',
      '/apis/kubenode.dev/v1alpha1/machines/m-1/status',
      'patch kubenode.dev/v1alpha1 machines/status m-1',
    ],
    ['POST', '/api/v1/nodes', 'create /v1 nodes from-the-body'],
    ['GET', '/api', 'discover /'],
    ['GET', '/apis', 'discover /'],
    ['GET', '/apis/apps', 'discover apps/'],
    ['GET', '/apis/apps/v1', 'discover apps/v1'],
    ['GET', '/api/v1', 'discover /v1'],
    ['GET', '/version', 'raw'],
    ['GET', '/readyz/etcd', 'raw'],
    ['GET', '/', 'raw'],
  ])('%s %s', (method, target, expected) => {
    const body = Buffer.from(JSON.stringify({ metadata: { name: 'from-the-body' } }));
    expect(describeCall(parseCall({ method, target, contentType: 'application/json', body }))).toBe(expected);
  });

  it('distinguishes a server-side apply from other patches', () => {
    const request = { method: 'PATCH', target: '/api/v1/nodes/n-1', body: Buffer.alloc(0) };
    expect(parseCall({ ...request, contentType: 'application/apply-patch+yaml' }).verb).toBe('apply');
    expect(parseCall({ ...request, contentType: 'application/merge-patch+json' }).verb).toBe('patch');
  });

  it('has no name if the body is not JSON', () => {
    const request = {
      method: 'POST',
      target: '/api/v1/nodes',
      contentType: undefined,
      body: Buffer.from('{'),
    };
    expect(parseCall(request).name).toBeUndefined();
  });
});

function describeCall(call: ReturnType<typeof parseCall>): string {
  if (call.verb === 'raw') return call.verb;
  const what = call.subresource ? `${call.resource}/${call.subresource}` : call.resource;
  const whose = call.namespace ? `${call.namespace}/${call.name ?? ''}` : call.name;
  return [call.verb, `${call.group}/${call.version ?? ''}`, what, whose].filter(Boolean).join(' ');
}
