import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { type Instance, ProviderError } from '../../../../src/providers/contract.ts';
import { KEY, MINUTE, machineObject, openSweep, type SweepBed, UID } from '../sweep-bed.ts';

const OTHER_UID = '00000000-0000-4000-8000-000000000200';
const MORE_MACHINES = Array.from({ length: 2 }, (_, index) => machineObject(`more-${index}`));

/** Opens a cluster with seven orphans beside 71 instances with their Machines. */
function openSevenOrphans(): SweepBed & {
  readonly orphans: readonly Instance[];
  readonly left: () => number;
} {
  const objects = Array.from({ length: 70 }, (_, index) => machineObject(`more-${index}`));
  const sweep = openSweep({ objects });
  const { bed, provider, leak } = sweep;
  for (const { metadata } of bed.api.objects.list({ resource: MACHINES })) {
    leak({ machineUid: metadata.uid ?? '' });
  }
  const orphans = Array.from({ length: 7 }, (_, index) => leak({ machineUid: UID.slice(0, -1) + index }));
  return { ...sweep, orphans, left: () => orphans.filter(({ id }) => provider.instances.has(id)).length };
}

describe('the deletion of an orphan instance', () => {
  it('MAC-36 deletes nothing when the grant is taken back before the deletion', async () => {
    const { bed, provider, grants, leak } = openSweep();
    const { renew } = grants;
    grants.renew = async (renewals) => {
      grants.deny = () => 'stopped';
      return await renew(renewals);
    };
    await bed.start();
    leak();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
  });

  it.each<[string, Partial<Instance['tags']> | undefined]>([
    ['its tags are those of another cluster', { clusterUid: 'another' }],
    ['its tags are those of another Machine', { machineUid: OTHER_UID }],
    ['it is not there any more', undefined],
  ])('MAC-36 returns the grant unused when %s in the meantime', async (_, tags) => {
    const { bed, provider, grants, leak } = openSweep();
    const listed = leak();
    const now = tags && { ...listed, tags: { ...listed.tags, ...tags } };
    provider.get = async () => now;
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Unused`]);
  });

  it('MAC-36 returns the grant unused when its Machine is restored in the meantime', async () => {
    const { bed, provider, grants, leak } = openSweep();
    const { ask } = grants;
    grants.ask = async (asks) => {
      bed.apply(machineObject('m-1'));
      const uid = bed.get(MACHINES, 'm-1')?.metadata.uid ?? '';
      const restored = { ...machineObject('m-1'), status: { infra: { providerID: `local:///${UID}` } } };
      bed.apply({ ...restored, metadata: { name: 'm-1', uid } }, 'status');
      return await ask(asks);
    };
    await bed.start();
    leak();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Unused`]);
  });

  it('MAC-36 settles a deletion that takes longer when the instance has ended, and not before', async () => {
    const { bed, provider, grants, leak } = openSweep();
    provider.delete = () =>
      Promise.reject(new ProviderError('Retryable', 'it is being terminated', { reason: 'Terminating' }));
    const { id } = leak();
    await bed.start();
    await bed.advance(11 * MINUTE);
    expect([grants.open.get(KEY)?.state, grants.settled]).toEqual(['Started', []]);
    provider.instances.delete(id);
    await bed.advance(MINUTE);
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Succeeded`]);
  });

  it('MAC-36 returns the grant of a deletion that the provider refuses as unused, and tries again in the next sweep', async () => {
    const { bed, provider, grants, leak } = openSweep();
    provider.fault = (call) => (call === 'delete' ? 'Terminal' : undefined);
    leak();
    await bed.start();
    await bed.advance(22 * MINUTE);
    expect(grants.settled).toEqual([1, 2].map((id) => `g-${id} DeleteInstance ${KEY}: Unused`));
  });

  it('MAC-36 keeps an instance while it cannot be read whether its Machine exists', async () => {
    const forbidden = new KubeError('Forbidden', 'machines is forbidden');
    const { bed, provider, leak } = openSweep({ client: { get: () => Promise.reject(forbidden) } });
    leak();
    await bed.start();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
  });

  it('MAC-36 returns the grant unused when the Machine with its UID exists after all', async () => {
    const found = { ...machineObject('m-1'), metadata: { name: 'm-1', uid: UID } };
    const { bed, provider, grants, leak } = openSweep({
      client: { get: async <T>() => found as T },
    });
    leak();
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Unused`]);
  });

  it('MAC-36 keeps the grant of a deletion whose answer was lost until the instance has ended, and settles it once', async () => {
    const { bed, provider, grants, leak, events } = openSweep();
    provider.fault = (call) => (call === 'delete' ? 'AmbiguousAfter' : undefined);
    leak();
    await bed.start();
    await bed.advance(10 * MINUTE + 5000);
    expect([grants.open.get(KEY)?.state, grants.settled]).toEqual(['Started', []]);
    await bed.advance(MINUTE);
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Succeeded`]);
    expect(events().at(-1)).toContain('MachineOrphanInstanceDeleted: instance');
    const sweeps = provider.calls.filter((call) => call === 'find').length;
    await bed.advance(8 * MINUTE);
    expect(provider.calls.filter((call) => call === 'find')).toHaveLength(sweeps);
  });

  it('MAC-36 begins at most five deletions in ten minutes, also while one of them takes longer', async () => {
    const { bed, provider, orphans, left } = openSevenOrphans();
    const slow = orphans[0]?.id;
    const end = provider.delete.bind(provider);
    provider.delete = (id, signal) =>
      id === slow
        ? Promise.reject(new ProviderError('Retryable', 'it is being terminated', { reason: 'Terminating' }))
        : end(id, signal);
    await bed.start();
    await bed.advance(19 * MINUTE);
    expect(left()).toBe(3);
    await bed.advance(2 * MINUTE);
    expect(left()).toBe(1);
  });

  it('MAC-36 deletes the sixth orphan in the next sweep when the deletion of five is refused', async () => {
    const { bed, provider, orphans, left } = openSevenOrphans();
    const refused = new Set(orphans.slice(0, 5).map(({ id }) => id));
    const end = provider.delete.bind(provider);
    provider.delete = (id, signal) =>
      refused.has(id)
        ? Promise.reject(new ProviderError('Terminal', 'termination protection', { reason: 'Protected' }))
        : end(id, signal);
    await bed.start();
    await bed.advance(19 * MINUTE);
    expect(left()).toBe(7);
    await bed.advance(2 * MINUTE);
    expect(left()).toBe(5);
  });

  it('MAC-36 settles no deletion while the instance is not listed and still found by its id', async () => {
    const { bed, provider, grants, leak } = openSweep();
    provider.fault = (call) => (call === 'delete' ? 'RetryableBefore' : undefined);
    const { id } = leak();
    await bed.start();
    await bed.advance(11 * MINUTE);
    const find = provider.find.bind(provider);
    provider.find = async (...args) => (await find(...args)).filter((each) => each.id !== id);
    await bed.advance(3 * MINUTE);
    expect([grants.open.get(KEY)?.state, grants.settled]).toEqual(['Started', []]);
  });

  it('MAC-36 ends a deletion whose instance a person has taken from us, and deletes others', async () => {
    const { bed, provider, grants, leak, events } = openSweep({ objects: MORE_MACHINES });
    const taken = leak();
    provider.fault = (call) => (call === 'delete' ? 'RetryableBefore' : undefined);
    await bed.start();
    await bed.advance(11 * MINUTE);
    provider.fault = () => undefined;
    provider.instances.delete(taken.id);
    const get = provider.get.bind(provider);
    provider.get = (id, signal) =>
      id === taken.id
        ? Promise.reject(new ProviderError('Terminal', 'not ours', { reason: 'TagsMissing' }))
        : get(id, signal);
    const other = leak({ machineUid: OTHER_UID });
    await bed.advance(25 * MINUTE);
    expect(grants.settled).toEqual([
      `g-1 DeleteInstance ${KEY}: Ambiguous`,
      `g-2 DeleteInstance instance:${OTHER_UID}: Succeeded`,
    ]);
    expect(provider.instances.has(other.id)).toBe(false);
    const deleted = events().filter((text) => text.includes('MachineOrphanInstanceDeleted'));
    expect(deleted).toEqual([expect.stringContaining(other.id)]);
  });

  it('MAC-36 returns the grant unused when the instance cannot be read again, and reports why', async () => {
    const { bed, provider, grants, leak, events } = openSweep();
    leak();
    provider.fault = (call) => (call === 'get' ? 'Throttled' : undefined);
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Unused`]);
    expect(events().at(-1)).toMatch(/: Retryable: too many requests$/);
  });
});
