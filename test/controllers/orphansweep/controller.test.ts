import { describe, expect, it } from 'vitest';
import { MACHINE_SETS } from '../../../src/api/generated/resources.ts';
import type { ListPage } from '../../../src/kube/client/client.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ProviderError } from '../../../src/providers/contract.ts';
import type { ProviderFault } from '../../support/memory-provider.ts';
import { KEY, MINUTE, machineObject, openSweep, stormingSet, UID } from './sweep-bed.ts';

async function* onePage(object: KubeObject): AsyncIterable<ListPage> {
  yield { items: [object], resourceVersion: '1' };
}

describe('the sweep of orphan instances', () => {
  it('MAC-36 deletes an instance whose answer was lost within thirty minutes, with a grant, and reports it', async () => {
    const { bed, provider, grants, leak, events } = openSweep();
    await bed.start();
    const { id } = leak();
    await bed.advance(20 * MINUTE - 1000);
    expect(provider.instances.has(id)).toBe(true);
    await bed.advance(10 * MINUTE);
    expect([...provider.instances.keys()]).not.toContain(id);
    expect(provider.instances.size).toBe(1);
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Succeeded`]);
    expect(events()).toEqual([
      expect.stringMatching(
        `^Namespace/kubenode-system MachineOrphanInstance: instance ${id} of Machine m-1 .UID ${UID}., created \\S+, 0 h ago: it is deleted when`,
      ),
      expect.stringMatching(`^Namespace/kubenode-system MachineOrphanInstanceDeleted: instance ${id} of`),
    ]);
  });

  it('MAC-36 begins again with the first sighting when the process is restarted', async () => {
    const { bed, provider, leak } = openSweep();
    const { id } = leak();
    const first = await bed.start();
    await bed.advance(9 * MINUTE);
    await first.kill();
    await bed.start();
    await bed.advance(9 * MINUTE);
    expect(provider.instances.has(id)).toBe(true);
    await bed.advance(3 * MINUTE);
    expect(provider.instances.has(id)).toBe(false);
  });

  it('MAC-36 sweeps in the replica that leads only', async () => {
    const { bed, provider, leak, grants } = openSweep();
    leak();
    await bed.start();
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls.filter((call) => call === 'delete')).toHaveLength(1);
    expect(grants.settled).toHaveLength(1);
  });

  it('MAC-36 never touches the instance of another cluster, nor that of a Machine', async () => {
    const { bed, provider, leak } = openSweep();
    await bed.start();
    leak({ clusterUid: 'another' });
    await bed.advance(40 * MINUTE);
    expect(provider.instances.size).toBe(2);
    expect(provider.calls).not.toContain('delete');
  });

  it('MAC-36 deletes nothing that the Defender denies, and names its reason', async () => {
    const { bed, provider, grants, leak, events } = openSweep();
    grants.deny = (key) => (key === KEY ? 'kill switch engaged by eva: outage' : undefined);
    await bed.start();
    const { id } = leak();
    await bed.advance(30 * MINUTE);
    expect(provider.instances.has(id)).toBe(true);
    expect(events().at(-1)).toMatch(/: KillSwitch: kill switch engaged by eva: outage$/);
    grants.deny = () => ({
      granted: false,
      reason: 'APIErrors',
      message: 'half of the requests fail',
      also: [],
    });
    await bed.advance(10 * MINUTE);
    expect(events().at(-1)).toMatch(/: APIErrors: half of the requests fail$/);
    grants.deny = () => undefined;
    await bed.advance(11 * MINUTE);
    expect(provider.instances.has(id)).toBe(false);
  });

  it('MAC-36 keeps its sightings while the provider cannot list its instances', async () => {
    const { bed, provider, leak } = openSweep();
    const { id } = leak();
    await bed.start();
    provider.fault = (call) => (call === 'find' ? 'Throttled' : undefined);
    await bed.advance(25 * MINUTE);
    expect(provider.instances.has(id)).toBe(true);
    provider.fault = () => undefined;
    await bed.advance(6 * MINUTE);
    expect(provider.instances.has(id)).toBe(false);
  });

  it('MAC-36 reports once for each reason why the provider cannot list its instances', async () => {
    const { bed, provider, events } = openSweep();
    provider.fault = (call) => (call === 'find' ? 'Auth' : undefined);
    await bed.start();
    await bed.advance(25 * MINUTE);
    const expired =
      'Namespace/kubenode-system MachineOrphanSweepFailed: orphan instances of provider local are not deleted: its instances cannot be listed: Auth: the key has expired';
    expect(events()).toEqual([expired]);
    provider.fault = (call) => (call === 'find' ? 'Throttled' : undefined);
    await bed.advance(11 * MINUTE);
    expect(events().slice(1)).toEqual([expect.stringContaining('listed: Retryable: too many requests')]);
  });

  it('MAC-36 lists instances again only when the provider permits it', async () => {
    const { bed, provider } = openSweep();
    let lists = 0;
    provider.find = () => {
      lists += 1;
      return Promise.reject(new ProviderError('Retryable', 'too many', { retryAfterSeconds: 1800 }));
    };
    await bed.start();
    await bed.advance(29 * MINUTE);
    expect(lists).toBe(1);
    await bed.advance(2 * MINUTE);
    expect(lists).toBe(2);
  });

  it('MAC-36 reports a failed list again after one that did not fail', async () => {
    const { bed, provider } = openSweep();
    const answers: readonly (ProviderFault | undefined)[] = ['Auth', undefined, 'Auth', 'Auth'];
    let lists = 0;
    provider.fault = () => answers[lists++];
    await bed.start();
    await bed.advance(35 * MINUTE);
    expect(lists).toBe(4);
    const [event] = bed.api.objects.list({ resource: EVENTS });
    expect(valueAt(event, 'series', 'count')).toBe(2);
  });

  it('MAC-36 does not ask a provider for its instances that takes hosts of a pool', async () => {
    const { bed, provider, leak } = openSweep({ provider: { abandon: () => Promise.resolve() } });
    leak();
    await bed.start();
    await bed.advance(30 * MINUTE);
    expect(provider.calls).toEqual([]);
  });

  it('MAC-36 keeps an instance whose Machine only the API server shows: the view may be late', async () => {
    const late = { ...machineObject('late'), metadata: { name: 'late', uid: UID } };
    const { bed, provider, grants, leak } = openSweep({
      client: { pages: () => onePage(late) as never },
    });
    leak();
    await bed.start();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([]);
  });

  it('MAC-36 lists no Machines while the view shows that of each instance', async () => {
    let lists = 0;
    const { bed, provider } = openSweep({
      client: {
        pages: () => {
          lists += 1;
          throw new Error('listed');
        },
      },
    });
    await bed.start();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).toContain('find');
    expect(lists).toBe(0);
  });

  it('MAC-36 deletes nothing while no Machine is of the provider, whatever Machines others have', async () => {
    const { bed, provider, leak, events } = openSweep({ isOther: true });
    provider.instances.clear();
    leak();
    await bed.start();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(events().at(-1)).toContain('the cluster has no Machine of this provider. Restore the Machines');
  });

  it('MAC-36 deletes no instance of a MachineSet whose storm guard is active, and reports it there', async () => {
    const { bed, provider, leak, events } = openSweep({ objects: [stormingSet('web')] });
    const uid = bed.get(MACHINE_SETS, 'web')?.metadata.uid ?? '';
    bed.apply({ ...stormingSet('web'), metadata: { name: 'web', uid } }, 'status');
    leak({ set: 'web' });
    await bed.start();
    await bed.advance(25 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(events().at(-1)).toMatch(/^MachineSet\/web .*: the storm guard of MachineSet web is active$/);
  });

  it('MAC-36 reports each state of an orphan once', async () => {
    const { bed, leak, events, grants } = openSweep();
    grants.deny = () => 'outage';
    leak();
    await bed.start();
    await bed.advance(60 * MINUTE);
    expect(events().map((text) => text.includes('KillSwitch'))).toEqual([false, true]);
  });
});
