import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { connectionVersion, credentialsOf, withServer } from '../../../src/sync/hub/connection.ts';
import { secretStore } from './secret-store.ts';

const cluster = (spec: object): Cluster => ({ metadata: { name: 'prod' }, spec }) as never;

describe('withServer', () => {
  it('changes the address and nothing else', () => {
    const text =
      'clusters:\n- name: a\n  cluster: {server: https://old:6443, certificate-authority-data: Zm9v}\nusers: []\n';
    const changed = withServer(text, 'https://new:6443');
    expect(changed).toContain('https://new:6443');
    expect(changed).toContain('certificate-authority-data: Zm9v');
    expect(changed).not.toContain('https://old');
    expect(() => withServer('users: []\n', 'https://new')).toThrow('no list of clusters');
  });
});

describe('credentialsOf', () => {
  it.each<[name: string, spec: object, secret: string | undefined]>([
    ['a hosted cluster', { hosted: {} }, 'prod-kubeconfig/kubeconfig'],
    ['a Secret', { connection: { credentialsRef: { name: 'a' } } }, 'a/kubeconfig'],
    ['a key of a Secret', { connection: { credentialsRef: { name: 'a', key: 'b' } } }, 'a/b'],
    ['a cluster that is its own hub', { connection: { inCluster: true } }, undefined],
  ])('finds the kubeconfig of %s', (_, spec, secret) => {
    const ref = credentialsOf(cluster(spec));
    expect(ref && `${ref.name}/${ref.key}`).toBe(secret);
  });
});

describe('connectionVersion', () => {
  it('differs after every change of the connection or of its Secret', () => {
    const spec = { connection: { credentialsRef: { name: 'a' } } };
    const versions = [
      connectionVersion(cluster(spec), secretStore()),
      connectionVersion(cluster(spec), secretStore({ name: 'a', resourceVersion: '1' })),
      connectionVersion(cluster(spec), secretStore({ name: 'a', resourceVersion: '2' })),
      connectionVersion(cluster({ connection: { ...spec.connection, server: 'https://b' } }), secretStore()),
    ];
    expect(new Set(versions).size).toBe(4);
  });
});
