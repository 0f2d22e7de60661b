import { describe, expect, it } from 'vitest';
import type { Release } from '../../../src/api/generated/types.ts';
import { findByName, readHub } from '../../../src/cli/fleet/hub-objects.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { cluster, pipeline, release } from '../commands/builders.ts';

const signal = new AbortController().signal;

function createClient(objects: readonly KubeObject[], missing = ''): Client {
  const client: Pick<Client, 'server'> & { pages: (resource: Resource) => AsyncGenerator } = {
    server: 'https://hub',
    async *pages({ kind }) {
      if (kind === missing) throw new KubeError('NotFound', `no kind ${kind}`);
      yield { items: objects.filter((object) => object.kind === kind) };
    },
  };
  return client as unknown as Client;
}

describe('readHub', () => {
  it('sorts clusters by name and releases from newest to oldest', async () => {
    const old = release({}, 'b'.repeat(40));
    const oldest = {
      ...old,
      metadata: { ...old.metadata, creationTimestamp: '2029-01-01T00:00:00Z' },
    } as Release;
    const hub = await readHub(
      createClient([cluster({}, 'z'), cluster({}, 'a'), pipeline({}), oldest, release({})]),
      signal,
    );
    expect(hub.clusters.map(({ metadata }) => metadata.name)).toEqual(['a', 'z']);
    expect(hub.releases.map(({ metadata }) => metadata.name)).toEqual([
      'fleet-aaaaaaaaaaaa',
      'fleet-bbbbbbbbbbbb',
    ]);
    expect(hub.pipelines).toHaveLength(1);
  });

  it('fails with a hint if the kinds are not installed', async () => {
    await expect(readHub(createClient([], 'Pipeline'), signal)).rejects.toMatchObject({
      message: 'this cluster is not a kubenode hub: kind Pipeline is not installed',
      where: 'https://hub',
      hint: 'run `kubenode install`, or point --context at the hub',
      exitCode: 65,
    });
  });
});

describe('findByName', () => {
  const clusters = [cluster({}, 'pre'), cluster({}, 'prod')];

  it('finds the object of that name', () => {
    expect(findByName('Cluster', clusters, 'prod')).toBe(clusters[1]);
  });

  it.each([
    [clusters, 'use one of: pre, prod'],
    [
      [],
      'the hub has none yet: run `kubenode status`, and start sync with `kubenode sync --from REPOSITORY` if it has no Pipeline',
    ],
  ])('fails with the existing names as hint', (objects, hint) => {
    expect(() => findByName('Cluster', objects, 'nope')).toThrow(
      expect.objectContaining({ message: 'Cluster nope not found in the hub', hint, exitCode: 65 }),
    );
  });
});
