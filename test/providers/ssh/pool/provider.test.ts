import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { createSshProvider } from '../../../../src/providers/ssh/pool/provider.ts';
import { freeHost } from '../../../../src/providers/ssh/pool/release-host.ts';
import { createClaimStore, type PoolClient } from '../../../../src/providers/ssh/pool/store.ts';
import { CLUSTER, NEVER, requestOf } from '../../contract/harness.ts';
import { CONFIG_MAP_KIND, HOST_KEYS, hosts, LEASE_KIND, type PoolBed, poolBed, poolObject } from './bed.ts';

const SHAPE = { config: { pool: 'rack7' }, host: 'systemd' } as const;
function bed(count: number): PoolBed {
  return poolBed(poolObject('rack7', { hosts: hosts(count) }));
}

function leaseOf(id: string): { readonly name: string; readonly namespace: string } {
  return { name: `machine-${id.replace('ssh:///', '')}`, namespace: 'kubenode-hosts' };
}

/** Writes another record into the claim, as a person or another version would. */
function damage({ api }: PoolBed, id: string, record: string): void {
  const lease = api.objects
    .list(LEASE_KIND, 'kubenode-hosts')
    .find(({ metadata }) => metadata.name === leaseOf(id).name);
  if (!lease) throw new Error(`${id} has no claim`);
  const {
    managedFields: _,
    resourceVersion: __,
    ...metadata
  } = lease.metadata as KubeObject['metadata'] & { managedFields?: unknown };
  api.objects.delete(LEASE_KIND, leaseOf(id), {});
  const annotations = { 'kubenode.dev/host-claim': record };
  api.objects.create(
    LEASE_KIND,
    { ...lease, metadata: { ...metadata, annotations } },
    { manager: 'person', force: false },
  );
}

function isPool({ kind }: KubeObject): boolean {
  return kind === 'ConfigMap';
}

describe('MAC-30 a pool gives each host to one machine, and', () => {
  it('serves 200 claims by four processes with 100 hosts: the others learn what is missing', async () => {
    const one = bed(100);
    const others = await Promise.all([1, 2, 3].map(() => one.reopen()));
    const providers = [one.provider, ...others];
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        (providers[index % 4] as Provider).create(requestOf(SHAPE, { machine: `n${index}` }), NEVER),
      ),
    );
    const failed = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(failed).toHaveLength(100);
    for (const error of failed) expect(error).toMatchObject({ code: 'Quota', reason: 'NoFreeHost' });
    expect(new Set(one.taken()).size).toBe(100);
    const instances = await one.provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(new Set(instances.map(({ addresses }) => addresses[0]?.address)).size).toBe(100);
  });

  it('gives a host to another Machine only after it was verified to be clean', async () => {
    const one = bed(1);
    const [first, second] = [requestOf(SHAPE), requestOf(SHAPE)];
    const id = await one.provider.create(first, NEVER);
    one.dirty.add(first.tags.machineUid);
    await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({ reason: 'CleanupIncomplete' });
    await expect(one.provider.create(second, NEVER)).rejects.toMatchObject({ code: 'Quota' });
    expect(await one.provider.get(id, NEVER)).toMatchObject({ id });
    one.dirty.clear();
    await one.provider.delete(id, NEVER);
    await one.provider.create(second, NEVER);
    expect(one.verified).toEqual(Array.from({ length: 2 }, () => `10.0.0.1 ${first.tags.machineUid}`));
  });

  it('gives the host of a Machine that could not clean it to no other one, also when it is deleted again', async () => {
    const one = bed(1);
    const request = requestOf(SHAPE, { machine: 'n1' });
    const id = await one.provider.create(request, NEVER);
    one.dirty.add(request.tags.machineUid);
    await one.provider.abandon?.(id, NEVER);
    expect(await one.provider.get(id, NEVER)).toBeUndefined();
    expect(await one.provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual([]);
    await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ reason: 'Deleted' });
    await expect(one.provider.create(requestOf(SHAPE), NEVER)).rejects.toThrow(
      'belong to n1, which was deleted and may have left something (kubenode pool free)',
    );
    await one.provider.delete(id, NEVER);
    await expect(one.provider.create(requestOf(SHAPE), NEVER)).rejects.toMatchObject({ code: 'Quota' });
  });

  it('gives a host that a person has cleaned to the next Machine', async () => {
    const one = bed(1);
    const request = requestOf(SHAPE);
    const id = await one.provider.create(request, NEVER);
    const store = createClaimStore(one.api.connection().client());
    const free = (): Promise<void> =>
      freeHost(request.tags.machineUid, { store, clock: createSystemClock() }, NEVER);
    await expect(free()).rejects.toMatchObject({ code: 'Retryable' });
    await one.provider.abandon?.(id, NEVER);
    await free();
    await one.provider.create(requestOf(SHAPE), NEVER);
    expect(one.verified).toEqual([]);
  });

  it('keeps a host for its Machine while it is not listed any more, and gives it to no other one', async () => {
    const one = bed(1);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    const restore = await one.fail('Quota');
    expect(await one.provider.get(id, NEVER)).toMatchObject({ addresses: [{ address: '10.0.0.1' }] });
    await expect(one.provider.create(requestOf(SHAPE), NEVER)).rejects.toMatchObject({ code: 'Quota' });
    await restore();
    expect(one.taken()).toHaveLength(1);
  });

  it('tells how its host is imported, with pinned keys', async () => {
    const one = bed(1);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    expect((await one.provider.get(id, NEVER))?.import).toMatchObject({
      address: '10.0.0.1',
      port: 22,
      user: 'admin',
      credentialsRef: { name: 'rack7-ssh', key: 'ssh-privatekey' },
      hostKeyPolicy: 'Pinned',
      hostKeys: HOST_KEYS,
    });
  });

  it('MAC-11 follows its pool where the key or the user of the host changes, and remembers it otherwise', async () => {
    const one = bed(2);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    const [before] = (await one.provider.get(id, NEVER))?.addresses ?? [];
    const hostKeys = [{ ...HOST_KEYS[0], algorithm: 'ecdsa-sha2-nistp256' }];
    const changed = poolObject('rack7', { user: 'ops', hosts: [{ address: before?.address, hostKeys }] });
    one.api.objects.delete(CONFIG_MAP_KIND, changed.metadata, {});
    one.api.objects.create(CONFIG_MAP_KIND, changed, { manager: 'git', force: false });
    const later = await one.reopen();
    expect((await later.get(id, NEVER))?.import).toMatchObject({ user: 'ops', hostKeys });
    const [found] = await later.find({ clusterUid: CLUSTER }, NEVER);
    expect(found?.import).toMatchObject({ user: 'ops', hostKeys });
    one.api.objects.delete(CONFIG_MAP_KIND, changed.metadata, {});
    const last = await one.reopen();
    expect((await last.get(id, NEVER))?.import).toMatchObject({ user: 'admin', hostKeys: HOST_KEYS });
  });

  it.each(['{', '{"machine":"n1","state":"Lost"}'])(
    'gives no host to two Machines when the claim of the first reads %s',
    async (record) => {
      const one = bed(1);
      const id = await one.provider.create(requestOf(SHAPE), NEVER);
      damage(one, id, record);
      await expect(one.provider.create(requestOf(SHAPE), NEVER)).rejects.toThrow(
        /belong to Lease machine-.*, which cannot be read/,
      );
      for (const call of [one.provider.get(id, NEVER), one.provider.delete(id, NEVER)]) {
        await expect(call).rejects.toMatchObject({ code: 'Terminal', reason: 'ClaimUnreadable' });
      }
      expect(one.taken()).toHaveLength(1);
      one.api.objects.delete(LEASE_KIND, leaseOf(id), {});
      await one.provider.delete(id, NEVER);
      await one.provider.create(requestOf(SHAPE), NEVER);
    },
  );

  it('gives no host to two Machines when the claim of the first is damaged after it was read', async () => {
    const one = bed(1);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    const client = one.api.connection().client();
    const late = createSshProvider({
      client: {
        ...client,
        async *pages(...args) {
          for await (const page of client.pages(...args)) yield { ...page, items: page.items.filter(isPool) };
        },
        async create(resource, object, options) {
          if (object.metadata.name.startsWith('host-')) damage(one, id, '{');
          return await client.create(resource, object, options);
        },
      } as PoolClient,
      clock: createSystemClock(),
      verifyClean: () => Promise.resolve(),
    });
    await expect(late.create(requestOf(SHAPE), NEVER)).rejects.toMatchObject({ reason: 'ClaimUnreadable' });
    expect(one.taken()).toHaveLength(1);
  });

  it('gives no host to two Machines when a person removed the Lease of the host', async () => {
    const one = bed(2);
    await one.provider.create(requestOf(SHAPE), NEVER);
    for (const name of one.taken()) {
      one.api.objects.delete(LEASE_KIND, { name, namespace: 'kubenode-hosts' }, {});
    }
    await one.provider.create(requestOf(SHAPE), NEVER);
    const instances = await one.provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(new Set(instances.map(({ addresses }) => addresses[0]?.address)).size).toBe(2);
  });
});

it.each(['before', 'after'])(
  'MAC-06 takes no host for a Machine that is deleted %s its host is locked',
  async (when) => {
    const one = bed(1);
    const client = one.api.connection().client();
    const request = requestOf(SHAPE);
    const id = `ssh:///${request.tags.machineUid}`;
    const creating = createSshProvider({
      client: {
        ...client,
        async create(resource, object, options) {
          const isLock = object.metadata.name.startsWith('host-');
          if (isLock && when === 'before') await one.provider.delete(id, NEVER);
          const created = await client.create(resource, object, options);
          if (isLock && when === 'after') await one.provider.delete(id, NEVER);
          return created as never;
        },
      },
      clock: createSystemClock(),
      verifyClean: () => Promise.resolve(),
    });
    await expect(creating.create(request, NEVER)).rejects.toMatchObject({
      code: 'Terminal',
      reason: 'Deleted',
    });
    expect(one.taken()).toEqual([]);
  },
);

/** Each write of a call is the last of its process once, arrived or not; another process repeats the call. */
describe('MAC-06 a pool whose process is killed', () => {
  const MOMENTS = [1, 2, 3, 4, 5].flatMap((n) => [[n, 'before'] as const, [n, 'after'] as const]);

  it.each(MOMENTS)('at write %i of create, %s it arrives: gives one host', async (n, when) => {
    const one = bed(3);
    const request = requestOf(SHAPE);
    const connection = one.api.connection();
    connection.crashAt(n, when);
    await one
      .providerOf(connection)
      .create(request, NEVER)
      .catch(() => undefined);
    await one.provider.create(request, NEVER);
    expect(await one.countHosts(request.tags.machineUid)).toBe(1);
    expect(one.taken()).toHaveLength(1);
  });

  it.each(MOMENTS)(
    'at write %i of create, %s it arrives, and deleted then: leaves no host taken',
    async (n, when) => {
      const one = bed(1);
      const request = requestOf(SHAPE);
      const connection = one.api.connection();
      connection.crashAt(n, when);
      await one
        .providerOf(connection)
        .create(request, NEVER)
        .catch(() => undefined);
      await one.provider.delete(`ssh:///${request.tags.machineUid}`, NEVER);
      expect(one.taken()).toEqual([]);
      await one.provider.create(requestOf(SHAPE), NEVER);
    },
  );

  it.each(MOMENTS)('at write %i of delete, %s it arrives: gives the host back', async (n, when) => {
    const one = bed(1);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    const connection = one.api.connection();
    connection.crashAt(n, when);
    await one
      .providerOf(connection)
      .delete(id, NEVER)
      .catch(() => undefined);
    await one.provider.delete(id, NEVER);
    expect(one.taken()).toEqual([]);
    await one.provider.create(requestOf(SHAPE), NEVER);
  });

  it('frees a host whose Lease is left over: its Machine has no claim', async () => {
    const one = bed(1);
    const id = await one.provider.create(requestOf(SHAPE), NEVER);
    one.api.objects.delete(LEASE_KIND, leaseOf(id), {});
    const next = requestOf(SHAPE);
    await one.provider.create(next, NEVER);
    expect(await one.countHosts(next.tags.machineUid)).toBe(1);
  });
});

it('forgets Machines that were deleted a day ago', async () => {
  const one = bed(1);
  let hours = 0;
  const clock = createSystemClock();
  const later = { ...clock, now: () => new Date(clock.now().getTime() + hours * 3_600_000) };
  const provider = createSshProvider({
    client: one.api.connection().client(),
    clock: later,
    verifyClean: () => Promise.resolve(),
  });
  const leases = (): number =>
    one.api.journal.filter(({ what }) => what.startsWith('delete Lease machine-')).length;
  const first = await provider.create(requestOf(SHAPE), NEVER);
  await provider.delete(first, NEVER);
  hours = 23;
  await provider.delete(`ssh:///${randomUUID()}`, NEVER);
  expect(leases()).toBe(0);
  hours = 25;
  await provider.delete(`ssh:///${randomUUID()}`, NEVER);
  expect(leases()).toBe(1);
});
