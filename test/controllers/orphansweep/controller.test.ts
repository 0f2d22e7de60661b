import { describe, expect, it } from 'vitest';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import { createOrphanSweepController } from '../../../src/controllers/orphansweep/controller.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type Instance, type Provider, ProviderError } from '../../../src/providers/contract.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { type MemoryProvider, memoryProvider } from '../../support/memory-provider.ts';

const KINDS = [MACHINES, NODES, MACHINE_SETS].map(servedKind);
const MINUTE = 60_000;
const UID = '00000000-0000-4000-8000-000000000100';
const KEY = `instance:${UID}`;

interface SweepBed {
  readonly bed: ControllerBed;
  readonly provider: MemoryProvider;
  readonly grants: MemoryGrants;
  /** Adds an instance with these tags, as a lost answer leaves it. */
  readonly leak: (tags?: Partial<Instance['tags']>) => Instance;
  readonly events: () => readonly string[];
}

/** A cluster with one Machine, `kept`, whose instance exists. */
function open(changes: Partial<Provider> = {}): SweepBed {
  // One clock for all: it is that of the bed, which is created last.
  const now = (): Date => bed.clock.now();
  const provider = memoryProvider(now);
  const grants = memoryGrants({ now });
  const swept = Object.assign(provider, changes);
  const bed: ControllerBed = createControllerBed({
    controllers: (client) => [
      createOrphanSweepController({ client, grants, clusterUid: 'c', providers: { local: swept } }),
    ],
    kinds: KINDS,
    objects: [machineObject('kept')],
    lease: true,
  });
  const kept = bed.get(MACHINES, 'kept')?.metadata.uid ?? '';
  add(provider, { machine: 'kept', machineUid: kept, at: now() });
  return {
    bed,
    provider,
    grants,
    leak: (tags = {}) => add(provider, { machine: 'm-1', machineUid: UID, at: now(), tags }),
    events: () => bed.api.objects.list({ resource: EVENTS }).map(textOfEvent),
  };
}

function textOfEvent(event: KubeObject): string {
  const about = `${textAt(event, 'regarding', 'kind') ?? ''}/${textAt(event, 'regarding', 'name') ?? ''}`;
  return `${about} ${textAt(event, 'reason') ?? ''}: ${textAt(event, 'note') ?? ''}`;
}

function machineObject(name: string): KubeObject {
  const {
    status: _,
    metadata: __,
    ...rest
  } = machine(name, { spec: { infra: { provider: 'local', config: {} } } });
  return { ...rest, metadata: { name } };
}

function add(
  { instances }: MemoryProvider,
  scene: { machine: string; machineUid: string; at: Date; tags?: Partial<Instance['tags']> },
): Instance {
  const { machine: name, machineUid, at, tags } = scene;
  const instance: Instance = {
    id: `local:///${tags?.machineUid ?? machineUid}`,
    machine: name,
    tags: { clusterUid: 'c', machineUid, ...tags },
    state: 'Running',
    addresses: [],
    createdAt: at,
  };
  instances.set(instance.id, instance);
  return instance;
}

describe('the sweep of orphan instances', () => {
  it('MAC-36 deletes an instance whose answer was lost within thirty minutes, with a grant, and reports it', async () => {
    const { bed, provider, grants, leak, events } = open();
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
    const { bed, provider, leak } = open();
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
    const { bed, provider, leak, grants } = open();
    leak();
    await bed.start();
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls.filter((call) => call === 'delete')).toHaveLength(1);
    expect(grants.settled).toHaveLength(1);
  });

  it('MAC-36 never touches the instance of another cluster, nor that of a Machine', async () => {
    const { bed, provider, leak } = open();
    await bed.start();
    leak({ clusterUid: 'another' });
    await bed.advance(40 * MINUTE);
    expect(provider.instances.size).toBe(2);
    expect(provider.calls).not.toContain('delete');
  });

  it('MAC-36 deletes nothing that the Defender denies, and names its reason', async () => {
    const { bed, provider, grants, leak, events } = open();
    grants.deny = (key) => (key === KEY ? 'kill switch engaged by eva: outage' : undefined);
    await bed.start();
    const { id } = leak();
    await bed.advance(30 * MINUTE);
    expect(provider.instances.has(id)).toBe(true);
    expect(events().at(-1)).toMatch(/: KillSwitch: kill switch engaged by eva: outage$/);
    grants.deny = () => undefined;
    await bed.advance(11 * MINUTE);
    expect(provider.instances.has(id)).toBe(false);
  });

  it('MAC-36 deletes nothing when the grant is taken back before the deletion', async () => {
    const { bed, provider, grants, leak } = open();
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
    ['it is not there any more', undefined],
  ])('MAC-36 returns the grant unused when %s in the meantime', async (_, tags) => {
    const { bed, provider, grants, leak } = open();
    const listed = leak();
    const now = tags && { ...listed, tags: { ...listed.tags, ...tags } };
    provider.get = async () => now;
    await bed.start();
    await bed.advance(12 * MINUTE);
    expect(provider.calls).not.toContain('delete');
    expect(grants.settled).toEqual([`g-1 DeleteInstance ${KEY}: Unused`]);
  });

  it('MAC-36 returns the grant unused when its Machine is restored in the meantime', async () => {
    const { bed, provider, grants, leak } = open();
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
    const { bed, provider, grants, leak } = open();
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

  it('MAC-36 settles a deletion that the provider refuses as failed, and tries again in the next sweep', async () => {
    const { bed, provider, grants, leak } = open();
    provider.fault = (call) => (call === 'delete' ? 'Terminal' : undefined);
    leak();
    await bed.start();
    await bed.advance(22 * MINUTE);
    expect(grants.settled).toEqual([1, 2].map((id) => `g-${id} DeleteInstance ${KEY}: Failed`));
  });

  it('MAC-36 keeps its sightings while the provider cannot list its instances', async () => {
    const { bed, provider, leak } = open();
    const { id } = leak();
    await bed.start();
    provider.fault = (call) => (call === 'find' ? 'Throttled' : undefined);
    await bed.advance(25 * MINUTE);
    expect(provider.instances.has(id)).toBe(true);
    provider.fault = () => undefined;
    await bed.advance(6 * MINUTE);
    expect(provider.instances.has(id)).toBe(false);
  });

  it('MAC-36 does not ask a provider for its instances that takes hosts of a pool', async () => {
    const { bed, provider, leak } = open({ abandon: () => Promise.resolve() });
    leak();
    await bed.start();
    await bed.advance(30 * MINUTE);
    expect(provider.calls).toEqual([]);
  });
});
