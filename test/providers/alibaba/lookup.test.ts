import { describe, expect, it, onTestFinished } from 'vitest';
import { CLUSTER, NEVER, requestOf } from '../contract/harness.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;

async function open(): Promise<AlibabaHarness> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return harness;
}

describe('the lookup of provider alibaba', () => {
  it('believes no empty list without the right to list: ECS answers it with success', async () => {
    const { provider, server, openWith } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    server.ecs.denied.add('DescribeInstances');
    const other = openWith({});
    await expect(other.find({ clusterUid: CLUSTER }, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    await expect(other.get(id, NEVER)).rejects.toMatchObject({ code: 'Auth', reason: 'ForbiddenRAM' });
    await expect(other.create(requestOf(SHAPE), NEVER)).rejects.toMatchObject({ code: 'Auth' });
    expect(server.ecs.instances.size).toBe(1);
  });

  it('tries the right again after five minutes, and not before', async () => {
    const { provider, server } = await open();
    for (let index = 0; index < 3; index += 1) await provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(server.actions).toEqual(Array(4).fill('DescribeInstances'));
  });

  it('reads all pages, each instance once', async () => {
    const { provider, server } = await open();
    server.ecs.hideNewFor = 0;
    await provider.create(requestOf(SHAPE), NEVER);
    const [first] = server.ecs.instances.values();
    if (!first) throw new Error('nothing was created');
    for (let index = 0; index < 250; index += 1) {
      const id = `i-bp2${String(index).padStart(17, '0')}`;
      server.ecs.instances.set(id, { ...first, id });
    }
    const found = await provider.find({ clusterUid: CLUSTER }, NEVER);
    expect([found.length, new Set(found.map(({ id }) => id)).size]).toEqual([251, 251]);
  });

  it('answers a hundred Machines by one request', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    const before = server.actions.length;
    const found = await Promise.all(Array.from({ length: 100 }, () => provider.get(id, NEVER)));
    expect([found.filter((each) => each?.id === id).length, server.actions.length - before]).toEqual([
      100, 2,
    ]);
  });

  it.each(['', 'x', '*'])('asks nothing for the UID %j, for which ECS could find all', async (machineUid) => {
    const { provider, server } = await open();
    expect(await provider.find({ clusterUid: CLUSTER, machineUid }, NEVER)).toEqual([]);
    expect(server.actions).toEqual([]);
  });

  it('names an instance that is not ours, and neither deletes nor stops it', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    const [own] = server.ecs.instances.values();
    if (!own) throw new Error('nothing was created');
    server.ecs.instances.set(own.id, { ...own, tags: { 'kubenode-set': 'x' } });
    const calls = [provider.get(id, NEVER), provider.delete(id, NEVER), provider.power(id, 'off', NEVER)];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({ code: 'Terminal', reason: 'TagsMissing' });
    }
    expect(server.ecs.instances.get(own.id)?.status).toBe('Running');
  });
});
