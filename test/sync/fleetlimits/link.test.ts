import { describe, expect, it, onTestFinished } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import type { Client, ListPage, WatchEvent } from '../../../src/kube/client/client.ts';
import { type AllowanceLink, createAllowanceLink } from '../../../src/sync/fleetlimits/link.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

interface Bed {
  readonly link: AllowanceLink;
  readonly settle: () => Promise<void>;
}

/** A link to a server whose namespace kube-system has this UID. */
function bed(pinned: string | undefined, found: string, isThere = true): Bed {
  const clock = virtualClock();
  const metadata = { name: 'prod-1' };
  const cluster = {
    metadata,
    spec: { environment: 'prod' },
    status: { clusterUID: pinned },
  } as unknown as Cluster;
  const client = {
    server: 'https://prod-1',
    get: () => Promise.resolve({ metadata: { uid: found } }),
    pages: emptyList,
    watch: (_: unknown, { signal }: { readonly signal?: AbortSignal }) => openWatch(signal),
    close: () => Promise.resolve(),
  } as unknown as Client;
  const link = createAllowanceLink('prod-1', {
    cluster: () => (isThere ? cluster : undefined),
    connect: () => Promise.resolve(client),
    clock,
    log: memoryLog(),
    random: () => 0.5,
    changed: () => {},
  });
  onTestFinished(() => link.close());
  return { link, settle: () => clock.advance(100) };
}

async function* emptyList(): AsyncGenerator<ListPage> {
  await Promise.resolve();
  yield { items: [], resourceVersion: '1' };
}

/** Nothing happens until it is closed, and then it ends. */
async function* openWatch(signal: AbortSignal | undefined): AsyncGenerator<WatchEvent> {
  await new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  yield* [];
}

describe('createAllowanceLink', () => {
  it('reads a cluster that has no allowance yet', async () => {
    const { link, settle } = bed('uid-1', 'uid-1');
    expect(link.read()).toEqual({ because: 'not connected yet' });
    await settle();
    expect(link.read()).toEqual({ allowance: 'None' });
  });

  it('accepts a cluster that was never pinned', async () => {
    const { link, settle } = bed(undefined, 'uid-1');
    await settle();
    expect(link.read()).toEqual({ allowance: 'None' });
  });

  it('reads and writes nothing of another cluster at the same address', async () => {
    const { link, settle } = bed('uid-1', 'uid-2');
    await settle();
    expect(link.read()).toEqual({
      because: 'https://prod-1 is not Cluster prod-1: expected cluster UID uid-1, found uid-2',
    });
    expect(await link.write({} as never, 'None')).toBe('NotWritten');
  });

  it('tells that the Cluster was deleted', async () => {
    const { link, settle } = bed('uid-1', 'uid-1', false);
    await settle();
    expect(link.read()).toEqual({ because: 'Cluster prod-1 was deleted from the hub' });
    expect(link.facts()).toEqual({ name: 'prod-1', labels: {} });
  });
});
