/** A cluster whose provider `local` is swept, with one Machine. */
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import { createOrphanSweepController } from '../../../src/controllers/orphansweep/controller.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { Instance, Provider } from '../../../src/providers/contract.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import { type MemoryProvider, memoryProvider } from '../../support/memory-provider.ts';

const KINDS = [MACHINES, NODES, MACHINE_SETS].map(servedKind);
export const MINUTE = 60_000;
export const UID = '00000000-0000-4000-8000-000000000100';
export const KEY = `instance:${UID}`;

export interface SweepBed {
  readonly bed: ControllerBed;
  readonly provider: MemoryProvider;
  readonly grants: MemoryGrants;
  /** Adds an instance with these tags, as a lost answer leaves it. */
  readonly leak: (tags?: Partial<Instance['tags']>) => Instance;
  readonly events: () => readonly string[];
}

interface SweepScene {
  readonly provider?: Partial<Provider>;
  readonly client?: Partial<SweepClient>;
  /** The objects beside the Machine `kept`. */
  readonly objects?: readonly KubeObject[];
  /** Whether the Machine `kept` is of another provider. */
  readonly isOther?: boolean;
}

type SweepClient = Parameters<typeof createOrphanSweepController>[0]['client'];

/** Opens a cluster with one Machine, `kept`, whose instance exists. */
export function openSweep(scene: SweepScene = {}): SweepBed {
  // One clock for all: it is that of the bed, which is created last.
  const now = (): Date => bed.clock.now();
  const provider = memoryProvider(now);
  const grants = memoryGrants({ now });
  const swept = Object.assign(provider, scene.provider);
  const bed: ControllerBed = createControllerBed({
    controllers: (client) => [
      createOrphanSweepController({
        client: {
          get: (...args) => client.get(...args),
          pages: (...args) => client.pages(...args),
          ...scene.client,
        },
        grants,
        clusterUid: 'c',
        providers: { local: swept },
      }),
    ],
    kinds: KINDS,
    objects: [machineObject('kept', scene.isOther ? 'aws' : 'local'), ...(scene.objects ?? [])],
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

export function machineObject(name: string, provider: 'local' | 'aws' = 'local'): KubeObject {
  const { status: _, metadata: __, ...rest } = machine(name, { spec: { infra: { provider, config: {} } } });
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

export function stormingSet(name: string): KubeObject {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineSet',
    metadata: { name },
    status: { conditions: [{ type: 'StormGuardActive', status: 'True' }] },
  };
}
