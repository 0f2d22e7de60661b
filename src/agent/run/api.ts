/** What the agent reads and writes at the API server: one watch on its own Machine, its status, its Lease. */
import { MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponent, MachineStatus } from '../../api/generated/types.ts';
import { MANAGER_AGENT, NAMESPACE_AGENTS } from '../../api/names.ts';
import { createReflector } from '../../kube/cache/reflector.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';

export interface AgentApi {
  /** The newest state that the watch delivered; undefined before the first one, and when there is none. */
  machine(): Machine | undefined;
  isOnline(): boolean;
  /** Undefined when the server has no such MachineComponent. */
  component(ref: string): Promise<MachineComponent | undefined>;
  /** Status of a condition of the Node; undefined while it is unknown. */
  nodeCondition(type: string): Promise<string | undefined>;
  writeStatus(
    machine: { readonly name: string; readonly uid: string },
    status: Partial<MachineStatus>,
  ): Promise<void>;
  heartbeat(): Promise<void>;
  /** Watches until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export interface AgentApiOptions {
  readonly client: Client;
  readonly machine: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly onChange: () => void;
}

const API_VERSION = 'kubenode.dev/v1alpha1';
const NODES: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
/** Four heartbeats may be missed. */
const LEASE_SECONDS = 40;

export function createAgentApi({ client, machine, clock, log, random, onChange }: AgentApiOptions): AgentApi {
  const store = createStore<Machine>({ log });
  store.subscribe({ added: onChange, updated: onChange });
  const reflector = createReflector<Machine>({
    client,
    resource: MACHINES,
    store,
    clock,
    log,
    random,
    fieldSelector: `metadata.name=${machine}`,
    recovered: onChange,
  });

  return {
    machine: () => store.get(machine),
    isOnline() {
      const { synced, error } = reflector.freshness();
      return synced && error === undefined;
    },
    component: (ref) => unlessMissing(client.get<MachineComponent>(MACHINE_COMPONENTS, { name: ref })),
    nodeCondition: (type) => readNodeCondition(client, machine, { type, own: store.get(machine) }),
    async writeStatus({ name, uid }, status) {
      const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name, uid }, status };
      await client.apply(MACHINES, object, {
        fieldManager: MANAGER_AGENT,
        force: true,
        subresource: 'status',
      });
    },
    async heartbeat() {
      const renewTime = clock.now().toISOString().replace('Z', '000Z');
      const spec = { holderIdentity: machine, leaseDurationSeconds: LEASE_SECONDS, renewTime };
      const metadata = { name: machine, namespace: NAMESPACE_AGENTS };
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
      await client.apply(LEASES, lease, { fieldManager: MANAGER_AGENT, force: true });
    },
    run: (signal) => reflector.run(signal),
  };
}

/** Ready comes with the Machine; other types are read from the Node. */
async function readNodeCondition(
  client: Client,
  machine: string,
  { type, own }: { readonly type: string; readonly own: Machine | undefined },
): Promise<string | undefined> {
  if (type === 'Ready') return statusOf(own?.status?.conditions, 'NodeReady');
  const node = await unlessMissing(
    client.get<{ status?: { conditions?: Conditions } }>(NODES, { name: machine }),
  ).catch(() => undefined);
  return statusOf(node?.status?.conditions, type);
}

type Conditions = readonly { readonly type: string; readonly status: string }[];

function statusOf(conditions: Conditions | undefined, type: string): string | undefined {
  return conditions?.find((each) => each.type === type)?.status;
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}
