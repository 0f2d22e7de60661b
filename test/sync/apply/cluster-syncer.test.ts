import { describe, expect, it } from 'vitest';
import type { Client, WatchOptions } from '../../../src/kube/client/client.ts';
import { NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createClusterSyncer } from '../../../src/sync/apply/cluster-syncer.ts';
import { IdentityMismatch } from '../../../src/sync/apply/session.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type MemoryCluster, memoryCluster } from './memory-cluster.ts';
import { COMMIT, configMap, HUB, namespace, unit } from './world.ts';

const RENDERED = { target: 'prod', units: [unit('web', [configMap('a')])], digest: 'sha256:now' };

describe('a round', () => {
  it.each([
    ['what was promoted is written', 'Apply', 'sha256:now', true],
    [
      'what the commit renders to now, and did not when it was promoted, is not',
      'Apply',
      'sha256:then',
      false,
    ],
    ['what is only looked at is not', 'Observe', 'sha256:now', false],
  ] as const)('S32 writes only content that was promoted: %s', async (_, mode, digest, written) => {
    const cluster = memoryCluster();
    const contact = await contactWith(cluster);
    const { signal } = new AbortController();
    await contact.round({ mode, commit: COMMIT, digest, pipeline: 'fleet', because: 'its turn' }, signal);
    await contact.close();
    expect([...cluster.objects.keys()].some((key) => key.includes('ConfigMap') && key.endsWith('a'))).toBe(
      written,
    );
    expect(contact.report().work?.digest).toBe('sha256:now');
  });
});

it('S6 takes nobody else for the cluster when the credentials change before it is pinned', async () => {
  const [one, two] = [memoryCluster(), memoryCluster()];
  let reached = one;
  const contact = await contactWith(one, async () => reached.process().client);
  const other = two.process().client;
  await other.create(NAMESPACES, namespace('another'));
  await other.create(NAMESPACES, namespace('kube-system'));
  const { signal } = new AbortController();
  await contact.round(undefined, signal);
  reached = two;
  contact.forgetSession();
  await expect(contact.round(undefined, signal)).rejects.toThrow(IdentityMismatch);
  reached = one;
  await contact.round(undefined, signal);
  expect(contact.report()).toMatchObject({ identity: 'Verified' });
  await contact.close();
});

async function contactWith(
  cluster: MemoryCluster,
  connect?: () => Promise<Client>,
): Promise<ReturnType<typeof createClusterSyncer>> {
  const { client } = cluster.process();
  await client.create(NAMESPACES, namespace('kube-system'));
  const watched: Client = { ...client, watch: silence };
  return createClusterSyncer({
    cluster: 'prod',
    hub: HUB,
    scope: '',
    connect: connect ?? (async () => watched),
    pinnedUID: () => undefined,
    writeBlockedReason: () => undefined,
    content: async () => RENDERED,
    policy: () => ({ budget: { maxObjects: 10, maxPercent: 20 }, acknowledgements: [] }),
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    onChange: () => undefined,
  });
}

/** A watch in which nothing happens until it is closed. */
function silence(_: Resource, { signal }: WatchOptions): AsyncIterable<never> {
  const closed = new Promise<IteratorResult<never>>((resolve) => {
    signal?.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true });
  });
  return { [Symbol.asyncIterator]: () => ({ next: () => closed }) };
}
