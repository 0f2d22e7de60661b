import { describe, expect, it } from 'vitest';
import type { ProviderName } from '../../../../src/api/enums.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { formatTokenRecord } from '../../../../src/api/secrets/bootstrap-token.ts';
import { removeInstance } from '../../../../src/controllers/machine/instance/removal.ts';
import { ALIBABA } from '../../../../src/providers/alibaba/config.ts';
import { AWS } from '../../../../src/providers/aws/config.ts';
import { AZURE } from '../../../../src/providers/azure/config.ts';
import type { ProviderCapabilities } from '../../../../src/providers/contract.ts';
import { PROVIDER_REGISTRY } from '../../../../src/providers/registry.ts';
import { ago, machine } from '../../../support/builders.ts';
import { type MemoryProvider, memoryProvider } from '../../../support/memory-provider.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const CREATED = { infra: { providerID: 'x:///1', state: 'Running' as const, addresses: [] } };
const RECORD = { id: 'abc123', expiresAt: ago(-600), epoch: 0, replacesAgent: false };
const TOKEN = { annotations: { 'kubenode.dev/bootstrap-token': formatTokenRecord(RECORD) } };

/** Deletes a Machine without a recorded instance, now. */
function deleting(capabilities: Partial<ProviderCapabilities>): {
  readonly clock: VirtualClock;
  readonly memory: MemoryProvider;
  readonly remove: () => ReturnType<typeof removeInstance>;
  readonly listInstance: () => Promise<string>;
} {
  const clock = virtualClock();
  const memory = memoryProvider(() => clock.now());
  const provider = { ...memory, capabilities: { ...memory.capabilities, ...capabilities } };
  const { signal } = new AbortController();
  const context = { clock, signal, log: { info: () => undefined, warn: () => undefined } } as never;
  const spec = { infra: { provider: 'local' as const, config: { type: 'sandbox' } } };
  const object = machine('m', { spec, metadata: { uid: 'u', deletionTimestamp: ago(0) } });
  const tags = { clusterUid: 'c', machineUid: 'u' };
  return {
    clock,
    memory,
    remove: () =>
      removeInstance(object, { providers: { local: provider }, clusterUid: 'c' }, { context, how: 'Delete' }),
    listInstance: () => memory.create({ ...spec.infra, machine: 'm', host: 'sandbox', tags }, signal),
  };
}

describe('removeInstance without its provider', () => {
  const context = { clock: virtualClock() } as never;
  const remove = (object: Machine): ReturnType<typeof removeInstance> =>
    removeInstance(object, { providers: {}, clusterUid: 'c' }, { context, how: 'Delete' });

  it.each([
    ['local', PROVIDER_REGISTRY.local.startHint],
    ['gcp' as never, 'this version does not support provider gcp'],
  ] as const)('keeps the Machine while no process opens the provider %s', async (provider, hint) => {
    const spec = { infra: { provider, config: {} } };
    expect(await remove(machine('m', { spec, status: CREATED }))).toMatchObject({
      reason: 'ProviderMissing',
      message: `instance x:///1 is left: ${hint}`,
    });
    expect(await remove(machine('m', { spec }))).toBeUndefined();
  });

  it('CAP-04 waits for no provider whose machines another system deletes', async () => {
    const spec = { infra: { provider: 'clusterapi' as const, config: {} } };
    expect(await remove(machine('m', { spec, status: CREATED }))).toBeUndefined();
  });

  it('MAC-30 keeps the Machine whose instance may have been requested and was not recorded', async () => {
    const spec = { infra: { provider: 'aws' as const, config: { imageId: 'ami-1' } } };
    expect(await remove(machine('m', { spec, metadata: TOKEN }))).toMatchObject({
      reason: 'ProviderMissing',
      message: `an instance that was requested and not recorded may be left: ${PROVIDER_REGISTRY.aws.startHint}`,
    });
    expect(await remove(machine('m', { spec }))).toBeUndefined();
  });

  it.each([
    ['joins by itself', 'aws', {}],
    ['joins without a token', 'local', { type: 'simulated' }],
  ] as const)('lets the Machine go whose host %s, also with a token', async (_, provider, config) => {
    const spec = { infra: { provider, config } };
    expect(await remove(machine('m', { spec, metadata: TOKEN }))).toBeUndefined();
  });
});

describe('removeInstance of a creation whose answer was lost', () => {
  it('MAC-30 waits until an instance would be listed, and deletes it then', async () => {
    const { clock, memory, remove, listInstance } = deleting({ listsLate: true });
    expect(await remove()).toEqual({
      reason: 'NotListed',
      message:
        'no instance was found; one that was requested before the deletion may be listed until 2030-01-01T12:01:30.000Z. No action required',
      requeueAt: new Date('2030-01-01T12:01:30Z'),
    });
    await clock.advance(60_000);
    await listInstance();
    expect([await remove(), memory.instances.size]).toEqual([undefined, 0]);
  });

  it('lets the Machine go when no instance was listed in time', async () => {
    const { clock, remove } = deleting({ listsLate: true });
    await clock.advance(89_999);
    expect(await remove()).toMatchObject({ reason: 'NotListed' });
    await clock.advance(1);
    expect(await remove()).toBeUndefined();
  });

  it('does not wait for a provider that lists its instances at once', async () => {
    expect(await deleting({}).remove()).toBeUndefined();
  });

  it.each<[ProviderName, typeof AWS]>([
    ['aws', AWS],
    ['alibaba', ALIBABA],
    ['azure', AZURE],
  ])('is told by provider %s that it lists late', (_, { capabilities }) => {
    expect(capabilities.listsLate).toBe(true);
  });
});
