import { describe, expect, it, onTestFinished } from 'vitest';
import { NEVER, requestOf } from '../contract/harness.ts';
import { type AlibabaHarness, CONFIG, openAlibabaHarness } from './harness.ts';
import type { EcsInstance } from './server/ecs.ts';
import { REFUSALS } from './server/refusal.ts';

interface Bed extends AlibabaHarness {
  readonly id: string;
  readonly instance: EcsInstance;
  /** The actions since the instance was created, without those that only look. */
  readonly acts: () => readonly string[];
}

async function open(): Promise<Bed> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const id = await harness.provider.create(requestOf({ config: CONFIG, host: 'systemd' }), NEVER);
  const [instance] = harness.server.ecs.instances.values();
  if (!instance) throw new Error('nothing was created');
  const begin = harness.server.actions.length;
  const acts = (): readonly string[] =>
    harness.server.actions.slice(begin).filter((action) => action !== 'DescribeInstances');
  return { ...harness, id, instance, acts };
}

describe('the power of provider alibaba', () => {
  it('goes off by force, and the instance keeps its place', async () => {
    const { provider, id, acts, instance } = await open();
    await provider.power(id, 'off', NEVER);
    expect([acts(), instance.status]).toEqual([['StopInstance'], 'Stopped']);
  });

  it('cycles by one request, so that no process that ends in between leaves the instance off', async () => {
    const { provider, id, acts } = await open();
    await provider.power(id, 'cycle', NEVER);
    expect(acts()).toEqual(['RebootInstance']);
  });

  it('cycles an instance that is off by starting it', async () => {
    const { provider, id, acts, instance } = await open();
    instance.status = 'Stopped';
    await provider.power(id, 'cycle', NEVER);
    expect(acts()).toEqual(['StartInstance']);
  });

  it('waits for an instance that stops before it starts it', async () => {
    const { provider, id, acts, instance } = await open();
    instance.status = 'Stopping';
    await provider.power(id, 'on', NEVER);
    expect([acts(), instance.status]).toEqual([['StartInstance'], 'Running']);
  });

  it('sends nothing for the state that it has', async () => {
    const { provider, id, acts } = await open();
    await provider.power(id, 'on', NEVER);
    expect(acts()).toEqual([]);
  });

  it('goes on when the list was older than the state', async () => {
    const { provider, id, acts, server, instance } = await open();
    server.ecs.failures.set('StopInstance', REFUSALS.badStatus);
    await provider.power(id, 'off', NEVER);
    expect([acts(), instance.status]).toEqual([['StopInstance', 'StopInstance'], 'Stopped']);
  });

  it('is not confirmed while the instance changes its state for longer than a minute', async () => {
    const { provider, id, instance, acts } = await open();
    Object.defineProperty(instance, 'status', { get: () => 'Stopping', set: ignore });
    await expect(provider.power(id, 'off', NEVER)).rejects.toMatchObject({
      code: 'Retryable',
      reason: 'InstanceChanging',
    });
    expect(acts()).toEqual([]);
  });

  it.each([
    ['off', 'Running', 'StopInstance'],
    ['on', 'Stopped', 'StartInstance'],
  ] as const)(
    'is accepted once for %s, however long the instance reads %s after it',
    async (action, status, act) => {
      const { provider, id, instance, acts } = await open();
      Object.defineProperty(instance, 'status', { get: () => status, set: ignore });
      await provider.power(id, action, NEVER);
      expect(acts()).toEqual([act]);
    },
  );

  it('fails without the right, and leaves the instance as it is', async () => {
    const { provider, id, instance, server } = await open();
    instance.status = 'Stopped';
    server.ecs.denied.add('StartInstance');
    await expect(provider.power(id, 'on', NEVER)).rejects.toMatchObject({ code: 'Auth' });
    expect(instance.status).toBe('Stopped');
  });
});

/** The state stays as it is. */
function ignore(): void {}
