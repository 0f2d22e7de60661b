import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { connectedAs } from '../../../src/cli/live/connected-as.ts';

const connection = { credentialsRef: { name: 'eu-1' } };

function cluster(spec: object = {}, uid = 'uid-1', status: object = {}): Cluster {
  const metadata = { name: 'eu-1', uid, resourceVersion: '1' };
  return { metadata, spec: { environment: 'test', connection, ...spec }, status } as unknown as Cluster;
}

describe('connectedAs', () => {
  it('stays the same while only the state of the cluster changes', () => {
    expect(connectedAs(cluster({}, 'uid-1', { commit: 'abc' }))).toBe(connectedAs(cluster()));
    expect(connectedAs(cluster({ environment: 'prod' }))).toBe(connectedAs(cluster()));
  });

  it.each([
    ['another Secret', cluster({ connection: { credentialsRef: { name: 'new' } } })],
    ['another server', cluster({ connection: { ...connection, server: 'https://b' } })],
    ['a control plane of the hub', cluster({ hosted: {} })],
    ['an identity that git sets', cluster({ clusterUID: 'uid-of-cluster' })],
    ['an identity that sync found', cluster({}, 'uid-1', { clusterUID: 'uid-of-cluster' })],
    ['the same name, but was created again', cluster({}, 'uid-2')],
  ])('changes when the Cluster has %s', (_, changed) => {
    expect(connectedAs(changed)).not.toBe(connectedAs(cluster()));
  });
});
