import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  connectCluster,
  connectionVersion,
  credentialsOf,
  withServer,
} from '../../../src/sync/hub/connection.ts';
import { secretStore } from '../../support/secret-store.ts';
import { configMap } from '../apply/fixtures.ts';

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

describe('connectCluster', () => {
  // Nothing listens on port 1: a request that leaves fails with Unreachable.
  const kubeconfig = `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: a, user: {token: t}}]
`;

  function connectFenced(
    spec: object,
    connectHub: () => Promise<Client>,
    use = 'kubeconfig',
  ): Promise<Client> {
    const secrets = secretStore({ name: 'a', data: { kubeconfig }, use });
    return connectCluster(cluster(spec), { secrets, clock: createSystemClock(), connectHub, fence });
  }

  it('sends no write that the fence stops, and sends reads', async () => {
    const client = await connectFenced({ connection: { credentialsRef: { name: 'a' } } }, noHub);
    await expect(client.create(CONFIG_MAPS, configMap('a'))).rejects.toMatchObject({
      code: 'Aborted',
      message: expect.stringContaining('the lease is not held') as string,
    });
    await expect(client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' })).rejects.toMatchObject({
      code: 'Unreachable',
    });
    await client.close();
  });

  const withRef = { credentialsRef: { name: 'a' } };

  it.each<[name: string, connection: object, use: string, want: string]>([
    ['as git credential', withRef, 'git; 127.0.0.1:1', 'but Cluster prod uses it as kubeconfig'],
    [
      'to a server that git names',
      { ...withRef, server: 'https://evil.example.com:6443' },
      'kubeconfig',
      "kubenode.dev/secret-use=kubeconfig; evil.example.com:6443'",
    ],
  ])('does not use a Secret %s', async (_, connection, use, want) => {
    await expect(connectFenced({ connection }, noHub, use)).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.stringContaining(want) as string,
    });
  });

  it.each<[name: string, server: string, use: string]>([
    ['the Secret permits', 'https://other.example.com:6443', 'kubeconfig; other.example.com:6443'],
    ['the kubeconfig has itself', 'http://127.0.0.1:1', 'kubeconfig'],
  ])('connects to another server that %s', async (_, server, use) => {
    const client = await connectFenced({ connection: { ...withRef, server } }, noHub, use);
    expect(client.server).toBe(server);
    await client.close();
  });

  it('names the Secret of a kubeconfig that cannot be used, and quotes none of its text', async () => {
    const broken = 'users: [{name: a, user: {token: canary';
    const secrets = secretStore({ name: 'a', data: { kubeconfig: broken }, use: 'kubeconfig' });
    const spec = { connection: { credentialsRef: { name: 'a' } } };
    const error: unknown = await connectCluster(cluster(spec), {
      secrets,
      clock: createSystemClock(),
      connectHub: noHub,
    }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: 'Config',
      message: expect.stringMatching(
        /^Secret kubenode-system\/a, key kubeconfig: .* is not valid YAML/,
      ) as string,
    });
    expect(String(error)).not.toContain('canary');
  });

  it('passes the fence on to the client of a cluster that is its own hub', async () => {
    const passed: unknown[] = [];
    await connectFenced({ connection: { inCluster: true } }, async (...args: unknown[]) => {
      passed.push(...args);
      return {} as Client;
    });
    expect(passed).toEqual([fence]);
  });
});

async function noHub(): Promise<Client> {
  throw new Error('the hub is not needed');
}

function fence(): void {
  throw new Error('the lease is not held');
}
