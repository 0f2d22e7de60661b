/** A bed with the controllers of Machines and sets, for one object that something blocks. */

import { MACHINE_SETS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine, MachineSet } from '../../src/api/generated/types.ts';
import { createMachineController } from '../../src/controllers/machine/controller.ts';
import { createMachineSetController } from '../../src/controllers/machineset/controller.ts';
import type { View } from '../../src/kube/cache/view.ts';
import { KubeError } from '../../src/kube/client/errors.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';
import { servedKind } from '../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../src/sim/api-server/refusal.ts';
import { condition, machine, node } from './builders.ts';
import { type ControllerBed, createControllerBed } from './controller/bed.ts';
import { MACHINE_KINDS } from './controller/machine-kinds.ts';
import { budget, drainPod } from './kube/drain-bed.ts';
import { machineSet, template } from './machine-sets.ts';
import { ledgerOf, type MemoryGrants, memoryGrants } from './memory-grants.ts';
import { type MemoryProvider, memoryProvider } from './memory-provider.ts';

export const DRAIN_SECONDS = 60;

export interface BlockedBed extends ControllerBed {
  readonly provider: MemoryProvider;
  readonly grants: MemoryGrants;
  /** Time passes; every 10 seconds what blocks is injected again. */
  readonly wait: (seconds: number) => Promise<void>;
  readonly views: () => Readonly<Record<string, View>>;
  readonly annotate: (key: string, value: string) => void;
  readonly beat: () => void;
  readonly report: (conditions: readonly object[], components?: readonly object[], manager?: string) => void;
  /** The agent has installed its components. */
  readonly reportAll: () => void;
  readonly nodeIs: (ready: 'True' | 'False' | 'Unknown') => void;
  /** All of it: Ready, but for what the test blocks. */
  readonly join: () => void;
  readonly addBudgetedPod: () => void;
}

const KINDS = [...MACHINE_KINDS, servedKind(MACHINE_SETS)];
const DELETION = {
  drain: 'Respect',
  drainTimeoutSeconds: DRAIN_SECONDS,
  timeoutSeconds: 7200,
  cleanup: 'Restore',
} as const;
const HELD_BACK = new ApiRefusal(429, 'TooManyRequests', 'it would violate the budget', [
  { reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1' },
]);
const EVERY_SECONDS = 10;
const API = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'm' } };

/** As a person writes it. */
export function declaredMachine(spec: Partial<Machine['spec']>): KubeObject {
  const {
    apiVersion,
    kind,
    spec: all,
  } = machine('m', { spec: { components: [], deletion: DELETION, ...spec } });
  return { apiVersion, kind, metadata: { name: 'm' }, spec: all };
}

/** Of machines that get an instance. */
export function declaredSet(replicas: number, spec: Partial<MachineSet['spec']> = {}): KubeObject {
  const infra = { provider: 'local', config: { type: 'sandbox' } } as const;
  const all = machineSet(replicas, { spec: { template: template({ infra, deletion: DELETION }), ...spec } });
  return { apiVersion: all.apiVersion, kind: all.kind, metadata: { name: 'general' }, spec: all.spec };
}

export async function blockedBed(
  object: KubeObject,
  inject: (bed: BlockedBed, seconds: number) => void,
): Promise<BlockedBed> {
  const now = (): Date => bed.clock.now();
  const grants = memoryGrants({ now });
  const provider = memoryProvider(now);
  const instances = {
    providers: { local: provider },
    clusterUid: 'c',
    createBootstrap: async () => ({ text: 'secret', expiresAt: new Date(now().getTime() + 900_000) }),
  };
  const controllers = [
    createMachineController({ client: { pages, get } as never, grants, instances }),
    createMachineSetController({ client: { pages } as never, grants }),
  ];
  const bed: ControllerBed = createControllerBed({ controllers, kinds: KINDS, objects: [object] });
  grants.changed = (ledger) => bed.apply(ledgerOf(ledger));
  let seconds = 0;
  let views: Readonly<Record<string, View>> = {};
  const blocked: BlockedBed = {
    ...bed,
    provider,
    grants,
    wait,
    views: () => views,
    annotate: (key, value) =>
      bed.apply({ ...object, metadata: { ...object.metadata, annotations: { [key]: value } } }),
    beat: () => bed.apply(leaseAt(now())),
    report,
    reportAll,
    nodeIs,
    join: () => {
      blocked.beat();
      reportAll();
      nodeIs('True');
    },
    addBudgetedPod,
  };
  inject(blocked, 0);
  ({ views } = await bed.start());
  return blocked;

  async function wait(more: number): Promise<void> {
    for (let left = more; left > 0; left -= EVERY_SECONDS) {
      inject(blocked, seconds);
      for (let each = 0; each < EVERY_SECONDS; each += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one second after the other
        await bed.clock.advance(1000);
        fillInDefaults();
      }
      seconds += EVERY_SECONDS;
    }
  }

  /** As the API server does for the Machines of a set. */
  function fillInDefaults(): void {
    const machines = bed.api.objects.list({ resource: MACHINES }, undefined) as unknown as readonly Machine[];
    const { readinessGates, minReadySeconds, agentEpoch } = machine('m').spec;
    const spec = { readinessGates, minReadySeconds, agentEpoch, components: [] };
    for (const { apiVersion, kind, metadata, spec: found } of machines) {
      if (!('components' in found)) bed.apply({ apiVersion, kind, metadata: { name: metadata.name }, spec });
    }
  }

  function report(
    conditions: readonly object[],
    components: readonly object[] = [],
    manager = 'agent',
  ): void {
    const written = { ...API, status: { conditions, ...(components.length > 0 ? { components } : {}) } };
    const options = { manager, force: true, subresource: 'status' };
    bed.api.objects.apply(servedKind(MACHINES), written, options);
  }

  function reportAll(): void {
    report([condition('ComponentsReady', 'True'), condition('UpToDate', 'True')]);
  }

  function nodeIs(ready: 'True' | 'False' | 'Unknown'): void {
    const found = node('m', ready);
    if (!bed.get(NODES, 'm')) bed.apply({ ...found, status: undefined });
    bed.apply({ ...found, metadata: { name: 'm' }, spec: undefined }, 'status');
  }

  function addBudgetedPod(): void {
    for (let times = 0; times < 50; times += 1) bed.api.refuse(/create Pod a eviction/, HELD_BACK);
    bed.apply(budget('web', {}));
    const { metadata, ...rest } = drainPod('a', { nodeName: 'm' });
    bed.apply({ ...rest, metadata: { name: 'a', namespace: metadata.namespace ?? '' } });
  }

  async function get(resource: Resource, { name }: { readonly name: string }): Promise<KubeObject> {
    const found = bed.get(resource, name);
    if (!found) throw new KubeError('NotFound', `${resource.kind} ${name} was not found`);
    return found;
  }

  async function* pages(resource: Resource): AsyncGenerator<{ items: readonly KubeObject[] }> {
    yield { items: bed.api.objects.list({ resource }, undefined) };
  }
}

function leaseAt(at: Date): KubeObject {
  const metadata = { name: 'm', namespace: 'kubenode-agents' };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { renewTime: at.toISOString() },
  };
}
