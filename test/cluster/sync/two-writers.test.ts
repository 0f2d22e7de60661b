/** Two processes write one cluster in two terms of its Lease. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { EpochSuperseded } from '../../../src/sync/apply/inventory/config-maps.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import {
  commitNo,
  configMap,
  expectFullyApplied,
  HUB,
  ownedConfigMaps,
  startTargetCluster,
  startTestSync,
  type TestSync,
  targetOf,
} from './target-cluster.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

const [a, b, c] = [configMap('a'), configMap('b'), configMap('c')];
const first = targetOf(commitNo(1), { web: [a, b], other: [c] });
const second = targetOf(commitNo(2), { web: [a, configMap('d')], other: [c], new: [b] });
const revert = targetOf(commitNo(3), { web: [a, b], other: [c] });

describe('S28 two holders of the Lease of a cluster, one after the other', () => {
  it.each([1, 2, 3, 4, 5])(
    'refuses write %i of the inventory of the first one when it arrives after the takeover',
    async (at) => {
      await expectFullyApplied(await startSync(server.client, 1), first);
      const hung = Promise.withResolvers<() => Promise<unknown>>();
      const hanging = await startSync(hangingAt(server.client, at, hung.resolve), 1);
      void hanging.sync(second).catch(hung.reject);
      const deliver = await hung.promise;
      const successor = await startSync(server.client, 2);
      await successor.sync(revert);
      await expect(deliver()).rejects.toMatchObject({
        code: expect.stringMatching(/^(Conflict|AlreadyExists|NotFound)$/) as string,
      });
      await expectFullyApplied(await startSync(server.client, 2), revert);
      expect(await ownedConfigMaps(server.client)).toEqual(['a', 'b', 'c']);
    },
  );

  it('refuses the first one for good, with both epochs in the message', async () => {
    await expectFullyApplied(await startSync(server.client, 1), first);
    const successor = await startSync(server.client, 4);
    await expectFullyApplied(successor, targetOf(commitNo(2), { web: [a, b, configMap('d')], other: [c] }));
    const former = await startSync(server.client, 3);
    const error: unknown = await former.sync(revert).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EpochSuperseded);
    expect(String(error)).toMatch(/with epoch 4 of its Lease, and this process holds epoch 3/);
    expect(await ownedConfigMaps(server.client)).toEqual(['a', 'b', 'c', 'd']);
  });
});

async function startSync(client: Client, epoch: number): Promise<TestSync> {
  const sync = await startTestSync(client, HUB, '', epoch);
  onTestFinished(() => sync.close());
  return sync;
}

/**
 * The process hangs for good while its n-th write of the inventory is on the way. Its earlier writes are done by then:
 * several are sent at the same time, and one that arrived during the takeover would be a conflict for the successor.
 */
function hangingAt(client: Client, at: number, hang: (deliver: () => Promise<unknown>) => void): Client {
  let count = 0;
  const sent: Promise<unknown>[] = [];
  const intercept = <T>(name: string, send: () => Promise<T>): Promise<T> => {
    const isInventory = name.startsWith('inventory');
    if (isInventory) count += 1;
    if (count < at) {
      const answer = send();
      sent.push(answer);
      return answer;
    }
    if (isInventory && count === at) void Promise.allSettled(sent).then(() => hang(send));
    return new Promise(() => undefined);
  };
  return {
    ...client,
    apply: (resource, object, options) =>
      intercept(object.metadata.name, () => client.apply(resource, object, options)),
    create: (resource, object, options) =>
      intercept(object.metadata.name, () => client.create(resource, object, options)),
    replace: (resource, object, options) =>
      intercept(object.metadata.name, () => client.replace(resource, object, options)),
    delete: (resource, name, options) => intercept(name.name, () => client.delete(resource, name, options)),
  };
}
