import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { createSshProvider } from '../../../../src/providers/ssh/pool/provider.ts';
import { freeHost } from '../../../../src/providers/ssh/pool/release-host.ts';
import { createClaimStore } from '../../../../src/providers/ssh/pool/store.ts';
import { CLUSTER, NEVER, requestOf } from '../../contract/harness.ts';
import { HOST_KEYS, hosts, type PoolBed, poolBed, poolObject } from './bed.ts';

const SHAPE = { config: { pool: 'rack7' }, host: 'systemd' } as const;
function bed(count: number): PoolBed {
  return poolBed(poolObject('rack7', { hosts: hosts(count) }));
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

  it('gives no host to two Machines when a person removed the Lease of the host', async () => {
    const one = bed(2);
    await one.provider.create(requestOf(SHAPE), NEVER);
    const resource = {
      resource: {
        group: 'coordination.k8s.io',
        version: 'v1',
        kind: 'Lease',
        plural: 'leases',
        namespaced: true,
      },
    };
    for (const name of one.taken()) {
      one.api.objects.delete(resource, { name, namespace: 'kubenode-hosts' }, {});
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
    const resource = {
      resource: {
        group: 'coordination.k8s.io',
        version: 'v1',
        kind: 'Lease',
        plural: 'leases',
        namespaced: true,
      },
    };
    const name = `machine-${id.replace('ssh:///', '')}`;
    one.api.objects.delete(resource, { name, namespace: 'kubenode-hosts' }, {});
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
