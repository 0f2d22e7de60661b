/** Bad input, failures, calls that are stopped, and secrets. */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../src/providers/contract.ts';
import { instanceOf, type OpenCase } from './case.ts';
import { CLUSTER, type ContractProvider, NEVER, requestOf, SECRET } from './harness.ts';

const STRANGE = [
  '',
  'x',
  '../../etc',
  '*',
  'n1 n2',
  '-rf',
  'local:///../x',
  'other://1',
  '\u0000',
  'a'.repeat(5000),
];

export function describeErrors(open: OpenCase, { failures, withoutFailures }: ContractProvider): void {
  describe('refuses', () => {
    it.each(STRANGE)('the token %j, and creates nothing', async (machineUid) => {
      const one = open();
      const error = await failureOf(one.provider.create(requestOf(one.shape, { machineUid }), NEVER));
      expect(error).toMatchObject({ code: 'Terminal', reason: 'InvalidToken' });
      expect(String(error).length).toBeLessThan(500);
      expect(await one.provider.find({ clusterUid: CLUSTER }, NEVER)).toEqual([]);
    });

    it.each(STRANGE)('the id %j in get, delete and power', async (id) => {
      const one = open();
      const { uid } = await one.create();
      const calls = [
        one.provider.get(id, NEVER),
        one.provider.delete(id, NEVER),
        one.provider.power(id, 'off', NEVER),
      ].map(failureOf);
      for (const error of await Promise.all(calls)) {
        expect(error).toMatchObject({ code: 'Terminal', reason: 'InvalidID' });
      }
      expect(await one.harness.countHosts(uid)).toBe(1);
    });
  });

  if (withoutFailures === undefined) describeFailures(open, failures);
  else describeNoFailures(open, withoutFailures);

  describe('is stopped by a signal', () => {
    const STOPPED = AbortSignal.abort(new Error('stopped'));
    const calls: Readonly<Record<string, (provider: Provider, id: string) => Promise<unknown>>> = {
      get: (provider, id) => provider.get(id, STOPPED),
      delete: (provider, id) => provider.delete(id, STOPPED),
      off: (provider, id) => provider.power(id, 'off', STOPPED),
      cycle: (provider, id) => provider.power(id, 'cycle', STOPPED),
      find: (provider) => provider.find({ clusterUid: CLUSTER }, STOPPED),
      events: (provider) => provider.events(STOPPED),
    };
    it.each(Object.entries(calls))('before %s, with its reason, and changes nothing', async (_, call) => {
      const one = open();
      const { id, uid } = await one.create();
      await expect(call(one.provider, id)).rejects.toThrow('stopped');
      expect([(await instanceOf(one, id)).state, await one.harness.countHosts(uid)]).toEqual(['Running', 1]);
    });

    it('before create, and creates nothing', async () => {
      const one = open();
      const request = requestOf(one.shape);
      await expect(one.provider.create(request, STOPPED)).rejects.toThrow('stopped');
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(0);
    });

    it('in the middle of create: repeated, it leaves one instance', async () => {
      const one = open();
      const request = requestOf(one.shape);
      const stop = new AbortController();
      const creating = one.provider.create(request, stop.signal).catch(() => undefined);
      stop.abort(new Error('stopped'));
      await creating;
      await one.provider.create(request, NEVER);
      expect(await one.harness.countHosts(request.tags.machineUid)).toBe(1);
    });

    it('in the middle of delete: repeated, it leaves nothing', async () => {
      const one = open();
      const { id, uid } = await one.create();
      const stop = new AbortController();
      const deleting = one.provider.delete(id, stop.signal).catch(() => undefined);
      stop.abort(new Error('stopped'));
      await deleting;
      await one.provider.delete(id, NEVER);
      expect(await one.harness.countHosts(uid)).toBe(0);
    });
  });

  describe('keeps the bootstrap file', () => {
    it('out of everything that others than the host can see', async () => {
      const one = open();
      await one.create();
      expect((await one.harness.visibleTexts()).filter((text) => text.includes(SECRET))).toEqual([]);
    });

    it('out of what it returns about an instance', async () => {
      const one = open();
      const { id } = await one.create();
      expect(inspect(await instanceOf(one, id), { depth: 9 })).not.toContain(SECRET);
    });

    it('out of its errors, with their causes', async () => {
      const one = open();
      const { id, request } = await one.create();
      await one.provider.delete(id, NEVER);
      const errors = await Promise.all([
        failureOf(one.provider.create(request, NEVER)),
        failureOf(one.provider.create(requestOf(one.shape, { machineUid: 'x' }), NEVER)),
        failureOf(
          one.provider.create({ ...requestOf(one.shape), config: { type: SECRET.slice(0, 3) } }, NEVER),
        ),
      ]);
      expect(inspect(errors, { depth: 9 })).not.toContain(SECRET);
    });

    it('until the instance is deleted', async () => {
      const one = open();
      const { id } = await one.create();
      await one.provider.delete(id, NEVER);
      expect((await one.harness.visibleTexts()).filter((text) => text.includes(SECRET))).toEqual([]);
    });
  });

  it('announces no event for instances that are well', async () => {
    const one = open();
    await one.create({ machineUid: randomUUID() });
    expect(await one.provider.events(NEVER)).toEqual([]);
  });
}

function describeFailures(open: OpenCase, failures: ContractProvider['failures']): void {
  describe('fails', () => {
    it.each(failures)('with %s, creates nothing, and creates one instance after it', async (code) => {
      const one = open();
      const restore = await one.harness.fail(code);
      const request = requestOf(one.shape);
      const { machineUid } = request.tags;
      expect(await failureOf(one.harness.provider.create(request, NEVER))).toMatchObject({
        name: 'ProviderError',
        code,
      });
      expect(await one.harness.countHosts(machineUid)).toBe(0);
      await restore();
      await one.harness.provider.create(request, NEVER);
      const found = await one.provider.find({ clusterUid: CLUSTER, machineUid }, NEVER);
      expect([found.length, await one.harness.countHosts(machineUid)]).toEqual([1, 1]);
    });

    it.each(failures)('with %s, and can be deleted then', async (code) => {
      const one = open();
      const { id } = await one.create();
      const request = requestOf(one.shape);
      const restore = await one.harness.fail(code);
      await failureOf(one.harness.provider.create(request, NEVER));
      await restore();
      const found = await one.provider.find(request.tags, NEVER);
      const own = [one.harness.futureId(request.tags.machineUid) ?? [], found.map((each) => each.id)].flat();
      for (const each of own) await one.provider.delete(each, NEVER);
      expect((await one.provider.find({ clusterUid: CLUSTER }, NEVER)).map((each) => each.id)).toEqual([id]);
    });
  });
}

function describeNoFailures(open: OpenCase, reason: string): void {
  it(`is not made to fail: ${reason}`, async () => {
    await expect(open().harness.fail('Quota')).rejects.toThrow(reason);
  });
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (value) => ({ unexpected: value }),
    (error: unknown) => error,
  );
}
