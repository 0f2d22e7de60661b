import { describe, expect, it } from 'vitest';
import { hubHint } from '../../../src/cli/fleet/hub.ts';
import type { Client } from '../../../src/kube/client/client.ts';

const { signal } = new AbortController();

function hubOf(clusters: readonly object[]): Client {
  return { list: async () => ({ items: clusters }) } as unknown as Client;
}

function cluster(name: string, connection: object = {}): object {
  return { metadata: { name }, spec: { connection } };
}

describe('hubHint', () => {
  it('names the clusters in which a person has to look', async () => {
    expect(await hubHint(hubOf([cluster('test'), cluster('prod')]), signal)).toBe(
      'this is the hub, and its clusters have the machines: add --context with one of prod, test',
    );
  });

  it.each<[what: string, clusters: readonly object[]]>([
    ['in a cluster that is not a hub', []],
    ['in a hub that is a member of its own fleet', [cluster('home', { inCluster: true }), cluster('prod')]],
  ])('has none %s', async (_what, clusters) => {
    expect(await hubHint(hubOf(clusters), signal)).toBeUndefined();
  });
});
