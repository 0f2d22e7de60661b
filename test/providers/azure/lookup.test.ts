import { describe, expect, it, onTestFinished } from 'vitest';
import { CLUSTER, NEVER, requestOf } from '../contract/harness.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';

const FILTER = { clusterUid: CLUSTER };

async function open(count: number): Promise<AzureBed & { readonly ids: readonly string[] }> {
  const bed = await openAzureBed();
  onTestFinished(() => bed[Symbol.asyncDispose]());
  const requests = Array.from({ length: count }, () => requestOf({ config: CONFIG, host: 'systemd' }));
  const ids = await Promise.all(requests.map((request) => bed.provider.create(request, NEVER)));
  return { ...bed, ids: ids.toSorted() };
}

describe('a list of provider azure', () => {
  it('has the instances of all pages', async () => {
    const { provider, ids } = await open(10);
    expect((await provider.find(FILTER, NEVER)).map(({ id }) => id)).toEqual(ids);
  });

  it('is not followed to another server', async () => {
    const { provider, proxy } = await open(4);
    proxy.next(({ path }) => /virtualMachines\?/.test(path), {
      type: 'ChangeAnswer',
      change: (answer) => ({
        ...answer,
        body: answer.body.replace(/"nextLink":"http:..[^/]+/, '"nextLink":"http://example.com'),
      }),
    });
    await expect(provider.find(FILTER, NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'BadAnswer',
    });
  });

  it.each([
    ['no list', {}],
    ['an entry that cannot be read', { value: [{ name: 'x' }] }],
  ])('finds nothing rather than a part with %s', async (_, body) => {
    const { provider, proxy } = await open(1);
    proxy.next(({ path }) => /virtualMachines\?/.test(path), {
      type: 'ChangeAnswer',
      change: (answer) => ({ ...answer, body: JSON.stringify(body) }),
    });
    await expect(provider.find(FILTER, NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'BadAnswer',
    });
  });

  it('takes no request for each instance, and has no state that it does not know', async () => {
    const { provider, proxy, arm } = await open(5);
    arm.pageSize = 5;
    const before = proxy.requests.length;
    const found = await provider.find(FILTER, NEVER);
    expect(proxy.requests.length - before).toBe(1);
    expect(found.map(({ state, addresses }) => [state, addresses])).toEqual(found.map(() => ['Unknown', []]));
  });

  it('reads one instance by its name, however many there are', async () => {
    const { provider, proxy } = await open(5);
    const [first] = await provider.find(FILTER, NEVER);
    const before = proxy.requests.length;
    const [found] = await provider.find({ ...FILTER, machineUid: first?.tags.machineUid ?? '' }, NEVER);
    expect(proxy.requests.slice(before).filter(({ path }) => path.includes('/virtualMachines'))).toHaveLength(
      1,
    );
    expect([found?.state, found?.addresses.length]).toEqual(['Running', 1]);
  });
});
