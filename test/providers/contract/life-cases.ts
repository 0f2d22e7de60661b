/** Creation, power and deletion of one instance. */
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { instanceOf, type OpenCase } from './case.ts';
import { NEVER, requestOf } from './harness.ts';

const CHOSEN_BY_CLOUD = 'the cloud chooses the id of an instance when it creates it: nothing has one before';

export function describeLife(open: OpenCase): void {
  describe('creates', () => {
    it('one running host for a Machine that no provider knew', async () => {
      const one = open();
      const { id, uid } = await one.create();
      expect(await one.harness.countHosts(uid)).toBe(1);
      expect((await instanceOf(one, id)).state).toBe('Running');
    });

    it('an id that begins with its own name, and fits into a status', async () => {
      const one = open();
      const { id } = await one.create();
      expect(id.startsWith(`${one.provider.name}://`)).toBe(true);
      expect(id.length).toBeLessThanOrEqual(256);
    });

    it('nothing more when it is called again with the same token', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      expect([await one.provider.create(request, NEVER), await one.harness.countHosts(uid)]).toEqual([id, 1]);
    });

    it('nothing more when it is called ten times at once', async () => {
      const one = open();
      const request = requestOf(one.shape);
      const ids = await Promise.all(Array.from({ length: 10 }, () => one.provider.create(request, NEVER)));
      expect(new Set(ids).size).toBe(1);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(1);
    });

    it('nothing more when another process calls it with the same token', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      const other = await one.harness.reopen();
      expect([await other.create(request, NEVER), await one.harness.countHosts(uid)]).toEqual([id, 1]);
    });

    it('nothing more when two processes call it at once', async () => {
      const one = open();
      const request = requestOf(one.shape);
      const other = await one.harness.reopen();
      const [first, second] = await Promise.all(
        [one.provider, other].map((each) => each.create(request, NEVER)),
      );
      expect([second, await one.harness.countHosts(request.tags.machineUid)]).toEqual([first, 1]);
    });

    it('nothing more for a token that comes with another name', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      expect(await one.provider.create({ ...request, machine: 'n2' }, NEVER)).toBe(id);
      expect([(await instanceOf(one, id)).machine, await one.harness.countHosts(uid)]).toEqual(['n1', 1]);
    });

    it('two instances for two Machines of one name', async () => {
      const one = open();
      const [first, second] = [await one.create(), await one.create()];
      expect(first.id).not.toBe(second.id);
    });

    it('as many instances as there are tokens, all at once', async () => {
      const one = open();
      const all = await Promise.all(Array.from({ length: 8 }, () => one.create()));
      expect(new Set(all.map(({ id }) => id)).size).toBe(8);
      const counts = await Promise.all(all.map(({ uid }) => one.harness.countHosts(uid)));
      expect(counts).toEqual(all.map(() => 1));
    });

    it('an instance without a bootstrap file', async () => {
      const one = open();
      const { bootstrap: _, ...request } = requestOf(one.shape);
      const id = await one.provider.create(request, NEVER);
      expect((await instanceOf(one, id)).id).toBe(id);
    });
  });

  describe('gets', () => {
    it('the name and tags that the instance was created with', async () => {
      const one = open();
      const { id, request } = await one.create({ set: 'general', machine: 'general-1' });
      expect(await instanceOf(one, id)).toMatchObject({ id, machine: 'general-1', tags: request.tags });
    });

    it('an instance without a set as one without a set', async () => {
      const one = open();
      const { id } = await one.create();
      expect((await instanceOf(one, id)).tags).not.toHaveProperty('set');
    });

    it('the same time of creation each time', async () => {
      const one = open();
      const { id, request } = await one.create();
      const before = (await instanceOf(one, id)).createdAt;
      await one.provider.create(request, NEVER);
      expect((await instanceOf(one, id)).createdAt).toEqual(before);
      expect(Math.abs(createSystemClock().now().getTime() - before.getTime())).toBeLessThan(60_000);
    });

    it('at most 8 addresses, none longer than 253 characters', async () => {
      const one = open();
      const { id } = await one.create();
      const { addresses } = await instanceOf(one, id);
      expect(addresses.length).toBeLessThanOrEqual(8);
      expect(addresses.filter(({ address = '' }) => address.length > 253)).toEqual([]);
    });

    it('the same from another process', async () => {
      const one = open();
      const { id } = await one.create();
      const other = await one.harness.reopen();
      expect(await other.get(id, NEVER)).toEqual(await instanceOf(one, id));
    });

    it('nothing for an id of its own form that was never created', async () => {
      const one = open();
      await one.create();
      expect(await one.provider.get(one.harness.unusedId(), NEVER)).toBeUndefined();
    });
  });

  describe('deletes', () => {
    it('all that runs, and finds nothing after it', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      await one.provider.delete(id, NEVER);
      expect(await one.harness.countHosts(uid)).toBe(0);
      expect(await one.provider.get(id, NEVER)).toBeUndefined();
      expect(await one.provider.find(request.tags, NEVER)).toEqual([]);
    });

    it('an instance that is deleted already, without an error', async () => {
      const one = open();
      const { id } = await one.create();
      await one.provider.delete(id, NEVER);
      await expect(one.provider.delete(id, NEVER)).resolves.toBeUndefined();
    });

    it('an instance that never existed, without an error', async () => {
      const one = open();
      const { uid } = await one.create();
      await expect(one.provider.delete(one.harness.unusedId(), NEVER)).resolves.toBeUndefined();
      expect(await one.harness.countHosts(uid)).toBe(1);
    });

    it('once when it is called five times at once', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await Promise.all(Array.from({ length: 5 }, () => one.provider.delete(id, NEVER)));
      expect(await one.harness.countHosts(uid)).toBe(0);
    });

    it('only the instance that is meant', async () => {
      const one = open();
      const [first, second] = [await one.create(), await one.create()];
      await one.provider.delete(first.id, NEVER);
      expect((await instanceOf(one, second.id)).state).toBe('Running');
    });

    it('an instance that another process created', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await (await one.harness.reopen()).delete(id, NEVER);
      expect([await one.harness.countHosts(uid), await one.provider.get(id, NEVER)]).toEqual([0, undefined]);
    });

    it('for good: the token of a deleted instance creates nothing', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      await one.provider.delete(id, NEVER);
      await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'Deleted',
      });
      expect(await one.harness.countHosts(uid)).toBe(0);
    });

    it('while it is being created: one of both is last, and nothing stays', async ({ skip }) => {
      const one = open();
      const request = requestOf(one.shape);
      const own = one.harness.futureId(request.tags.machineUid) ?? skip(CHOSEN_BY_CLOUD);
      await Promise.allSettled([one.provider.create(request, NEVER), one.provider.delete(own, NEVER)]);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(0);
      expect(await one.provider.get(own, NEVER)).toBeUndefined();
    });

    it('before a late creation: nothing is created any more', async ({ skip }) => {
      const one = open();
      const request = requestOf(one.shape);
      const own = one.harness.futureId(request.tags.machineUid) ?? skip(CHOSEN_BY_CLOUD);
      await one.provider.delete(own, NEVER);
      await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Terminal' });
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(0);
    });
  });
}

/** Power, and instances that ended on their own. */
export function describePower(open: OpenCase): void {
  describe('has power that', () => {
    it('is off, and is found all the same', async () => {
      const one = open();
      const { id, request } = await one.create();
      await one.provider.power(id, 'off', NEVER);
      const { clusterUid } = request.tags;
      const [found] = await one.provider.find(request.tags, NEVER);
      expect(found?.state).toBe('Stopped');
      const [listed] = await one.provider.find({ clusterUid }, NEVER);
      expect(['Stopped', 'Unknown']).toContain(listed?.state);
    });

    it('is off for a host that ended on its own', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.crash(uid);
      expect((await instanceOf(one, id)).state).toBe('Stopped');
    });

    it('is off for a host that ended on its own, and is deleted', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.crash(uid);
      await one.provider.delete(id, NEVER);
      expect(await one.provider.get(id, NEVER)).toBeUndefined();
    });

    it('goes off and ends what runs', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.provider.power(id, 'off', NEVER);
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Stopped', 0]);
    });

    it('stays off when the creation is repeated', async () => {
      const one = open();
      const { id, uid, request } = await one.create();
      await one.provider.power(id, 'off', NEVER);
      await one.provider.create(request, NEVER);
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Stopped', 0]);
    });

    it('goes on again, with the same instance', async () => {
      const one = open();
      const { id, uid } = await one.create();
      const before = await instanceOf(one, id);
      await one.provider.power(id, 'off', NEVER);
      await one.provider.power(id, 'on', NEVER);
      expect([await instanceOf(one, id), await one.harness.countHosts(uid)]).toEqual([before, 1]);
    });

    it('starts nothing twice when it is on', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await Promise.all([one.provider.power(id, 'on', NEVER), one.provider.power(id, 'on', NEVER)]);
      expect(await one.harness.countHosts(uid)).toBe(1);
    });

    it('is off twice without an error', async () => {
      const one = open();
      const { id } = await one.create();
      await one.provider.power(id, 'off', NEVER);
      await expect(one.provider.power(id, 'off', NEVER)).resolves.toBeUndefined();
    });

    it('cycles, and runs once after it', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.provider.power(id, 'cycle', NEVER);
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Running', 1]);
    });

    it('brings back a host that ended on its own', async () => {
      const one = open();
      const { id, uid } = await one.create();
      await one.harness.crash(uid);
      await one.provider.power(id, 'on', NEVER);
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Running', 1]);
    });

    it('is not found for an instance that was deleted', async () => {
      const one = open();
      const { id } = await one.create();
      await one.provider.delete(id, NEVER);
      await expect(one.provider.power(id, 'on', NEVER)).rejects.toMatchObject({ code: 'NotFound' });
    });

    it('is off when the instance is deleted', async () => {
      const one = open();
      const { id } = await one.create();
      await one.provider.power(id, 'off', NEVER);
      await one.provider.delete(id, NEVER);
      expect(await one.provider.get(id, NEVER)).toBeUndefined();
    });
  });
}

export function describeNoPower(open: OpenCase): void {
  it.each(['off', 'on', 'cycle'] as const)(
    'refuses to switch the power %s, and changes nothing',
    async (action) => {
      const one = open();
      const { id, uid } = await one.create();
      await expect(one.provider.power(id, action, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'NotSupported',
      });
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Running', 1]);
    },
  );
}
