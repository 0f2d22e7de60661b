import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NEVER, requestOf, SECRET } from '../contract/harness.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';
import { REFUSALS } from './server/refusal.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;

async function open(): Promise<AlibabaHarness> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return harness;
}

describe('the provider alibaba', () => {
  it.each(['', 'CN-Hangzhou', 'cn-hangzhou.example.com/x?'])(
    'does not open for the region %j',
    async (region) => {
      const { openWith } = await open();
      expect(() => openWith({ env: { ALIBABA_CLOUD_REGION_ID: region } })).toThrow('ALIBABA_CLOUD_REGION_ID');
    },
  );

  it('returns an instance only when it is listed: the next search finds it', async () => {
    const { provider, server } = await open();
    server.ecs.hideNewFor = 5;
    const request = requestOf(SHAPE);
    const id = await provider.create(request, NEVER);
    expect((await provider.find(request.tags, NEVER)).map((each) => each.id)).toEqual([id]);
  });

  it('MAC-30 creates exactly one instance while every second answer is lost', async () => {
    const { provider, server, ...harness } = await open();
    for (let index = 0; index < 10; index += 1) {
      const request = requestOf(SHAPE);
      server.inject('AnswerLost', ['RunInstances']);
      await expect(provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
      await provider.create({ ...request, bootstrap: `other-${index}` }, NEVER);
      expect(await harness.countHosts(request.tags.machineUid)).toBe(1);
    }
    expect(server.ecs.instances.size).toBe(10);
  });

  it('names both of two instances with the UID of one Machine, and creates no third', async () => {
    const { provider, server } = await open();
    const request = requestOf(SHAPE);
    await provider.create(request, NEVER);
    const [first] = server.ecs.instances.values();
    if (!first) throw new Error('nothing was created');
    server.ecs.instances.set('i-bp1second', { ...first, id: 'i-bp1second' });
    const error = await provider.create(request, NEVER).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'Terminal', reason: 'DuplicateInstances' });
    expect(String(error)).toContain('i-bp1second');
    expect(server.ecs.instances.size).toBe(2);
  });

  it('waits with a deletion until the instance has started, and repeats it', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    const [instance] = server.ecs.instances.values();
    if (instance) instance.status = 'Pending';
    await provider.delete(id, NEVER);
    expect(server.ecs.instances.size).toBe(0);
  });

  it('never concludes from a list that an instance was deleted', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    server.ecs.denied.add('DeleteInstance');
    await expect(provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Auth', reason: 'ForbiddenRAM' });
    expect(server.ecs.instances.size).toBe(1);
  });

  it('gives up a deletion that takes long, to be called again', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    const [instance] = server.ecs.instances.values();
    if (instance) Object.defineProperty(instance, 'status', { get: () => 'Pending', set: ignore });
    await expect(provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Retryable', reason: 'Deleting' });
  });

  it('calls credentials that expire under way an error of the credentials, and gets new ones', async () => {
    const { provider, server } = await open();
    const id = await provider.create(requestOf(SHAPE), NEVER);
    server.keys.set('LTAI5test', { secret: 'test-secret', isExpired: true });
    await expect(provider.get(id, NEVER)).rejects.toMatchObject({
      code: 'Auth',
      reason: 'InvalidSecurityTokenExpired',
    });
    server.keys.set('LTAI5test', { secret: 'test-secret' });
    expect((await provider.get(id, NEVER))?.id).toBe(id);
  });

  it('keeps the bootstrap file out of the error for a wrong secret, for which ECS quotes the request', async () => {
    const { openWith } = await open();
    const provider = openWith({ env: { ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'wrong' } });
    const error = await provider.create(requestOf(SHAPE), NEVER).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'Auth', reason: 'SignatureDoesNotMatch' });
    const text = inspect(error, { depth: 9 });
    expect([text.includes(SECRET), text.includes('UserData')]).toEqual([false, false]);
  });

  it('says that a type is sold out, and creates it once there is stock', async () => {
    const { provider, server } = await open();
    const request = requestOf(SHAPE);
    server.ecs.failRun = REFUSALS.noStock;
    await expect(provider.create(request, NEVER)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'OperationDeniedNoStock',
    });
    server.ecs.failRun = undefined;
    await provider.create(request, NEVER);
    expect(server.ecs.instances.size).toBe(1);
  });
});

/** The state stays as it is. */
function ignore(): void {}
