/** Reads and writes what the agent needs at the API server: one watch on its own Machine, its status, its Lease. */

import { MACHINE_COMPONENTS, MACHINES, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type {
  AgentStep,
  Machine,
  MachineComponent,
  MachineStatus,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { LEASE_SECONDS } from '../../api/machine/heartbeat.ts';
import { MANAGER_AGENT, NAMESPACE_AGENTS } from '../../api/names.ts';
import { createReflector, type Reflector } from '../../kube/cache/reflector.ts';
import { createStore } from '../../kube/cache/store.ts';
import { unlessMissing } from '../../kube/client/errors.ts';
import type { ObjectClient } from '../../kube/client/rest-client.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { nodeMissingSince } from '../component/drift/registration.ts';

export interface MachineIdentity {
  readonly name: string;
  readonly uid: string;
}

export interface AgentApi {
  /** Returns the newest state that the watch delivered; undefined before the first one, and when there is none. */
  machine(): Machine | undefined;
  isOnline(): boolean;
  /** Reads a MachineComponent; undefined when the server has no such one. */
  component(ref: string): Promise<MachineComponent | undefined>;
  /** Returns the status of a condition of the Node; undefined while it is unknown. */
  nodeCondition(type: string): Promise<string | undefined>;
  writeStatus(machine: MachineIdentity, status: Partial<MachineStatus>): Promise<void>;
  /** Renews the Lease. It belongs to this Machine: the garbage collector deletes it after the Machine. */
  heartbeat(machine: MachineIdentity): Promise<void>;
  /** Returns the repair jobs of this machine; undefined while the watch is not current. */
  jobs(): readonly RemedyOperationJob[] | undefined;
  /** Returns since when the machine has no Node; undefined while it has one, while that is not known, and while the Machine is deleted. */
  nodeMissingSince(): Date | undefined;
  /** Reads the UID of the Node; undefined when the Node does not exist. */
  nodeUid(): Promise<string | undefined>;
  /** Returns this clock minus that of the API server, at the last heartbeat; undefined before the first one. */
  clockSkewMs(): number | undefined;
  /** Writes the steps in the status of a job, which is all that the agent may write of it. */
  writeJobStatus(
    job: { readonly name: string; readonly uid: string },
    steps: readonly AgentStep[],
  ): Promise<void>;
  /** Watches until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

export interface AgentApiOptions {
  readonly client: ObjectClient;
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
/**
 * The time over which agents spread their requests after a restart of the API server. Each agent makes four requests, two lists and two
 * watches, and two more when it has files of the problem detector. 2,000 agents within this time make 80 to 120 a second. What an agent
 * last accepted is enforced meanwhile, and its heartbeat does not wait for them.
 */
const RECONNECT_SPREAD_MS = 100_000;

export function createAgentApi({ client, machine, clock, log, random, onChange }: AgentApiOptions): AgentApi {
  const store = createStore<Machine>({ log });
  store.subscribe({ added: onChange, updated: onChange });
  const jobs = createStore<RemedyOperationJob>({ log });
  jobs.subscribe({ added: onChange, updated: onChange, removed: onChange });
  const reconnectSpreadMs = RECONNECT_SPREAD_MS;
  const watch = { client, clock, log, random, recovered: onChange, reconnectSpreadMs };
  const reflector = createReflector<Machine>({
    ...watch,
    resource: MACHINES,
    store,
    fieldSelector: `metadata.name=${machine}`,
  });
  const jobReflector = createReflector<RemedyOperationJob>({
    ...watch,
    resource: REMEDY_OPERATION_JOBS,
    store: jobs,
    fieldSelector: `spec.machine.name=${machine}`,
  });
  let measured: MeasuredSkew | undefined;

  return {
    machine: () => store.get(machine),
    isOnline: () => isCurrent(reflector),
    jobs: () => (isCurrent(jobReflector) ? jobs.list() : undefined),
    clockSkewMs: () => measured && currentSkew(measured, clock),
    nodeMissingSince: () => (isCurrent(reflector) ? nodeMissingSince(store.get(machine)) : undefined),
    async nodeUid() {
      const node = await unlessMissing(client.get(NODES, { name: machine }));
      return node?.metadata.uid;
    },
    async writeJobStatus({ name, uid }, steps) {
      const status = { agent: { steps } };
      const object = { apiVersion: API_VERSION, kind: 'RemedyOperationJob', metadata: { name, uid }, status };
      const options = { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' };
      await client.apply(REMEDY_OPERATION_JOBS, object, options);
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
    async heartbeat({ name, uid }) {
      const sentAt = clock.now();
      const renewTime = sentAt.toISOString().replace('Z', '000Z');
      const spec = { holderIdentity: machine, leaseDurationSeconds: LEASE_SECONDS, renewTime };
      const ownerReferences = [{ apiVersion: API_VERSION, kind: 'Machine', name, uid }];
      const metadata = { name: machine, namespace: NAMESPACE_AGENTS, ownerReferences };
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
      const written = await client.apply(LEASES, lease, { fieldManager: MANAGER_AGENT, force: true });
      const [answeredAt, monotonicMs] = [clock.now(), clock.monotonicMs()];
      const skewMs = skewOf(written, { sentAt, answeredAt });
      if (skewMs !== undefined) measured = { skewMs, at: answeredAt, monotonicMs };
    },
    async run(signal) {
      await Promise.all([reflector.run(signal), jobReflector.run(signal)]);
    },
  };
}

function isCurrent(reflector: Reflector): boolean {
  const { synced, error } = reflector.freshness();
  return synced && error === undefined;
}

/**
 * Computes the skew of this clock. The server notes when a field manager last wrote, to the second. The request was sent before that time
 * and answered after it, so a clock that agrees with both has no skew.
 */
export function skewOf(
  { metadata }: KubeObject,
  { sentAt, answeredAt }: { readonly sentAt: Date; readonly answeredAt: Date },
): number | undefined {
  const own = metadata.managedFields?.find(({ manager }) => manager === MANAGER_AGENT);
  const serverMs = Date.parse(own?.time ?? '');
  if (Number.isNaN(serverMs)) return undefined;
  const [earliest, latest] = [sentAt.getTime() - serverMs - SECOND_MS, answeredAt.getTime() - serverMs];
  if (earliest > 0) return earliest;
  return latest < 0 ? latest : 0;
}

const SECOND_MS = 1000;

interface MeasuredSkew {
  readonly skewMs: number;
  readonly at: Date;
  readonly monotonicMs: number;
}

/** Returns the skew now. A clock that jumped since it was compared is noticed without another request. */
function currentSkew({ skewMs, at, monotonicMs }: MeasuredSkew, clock: Clock): number {
  const jumpMs = clock.now().getTime() - at.getTime() - (clock.monotonicMs() - monotonicMs);
  return skewMs + jumpMs;
}

/** Reads the status of a condition. Ready comes with the Machine; other types are read from the Node. */
async function readNodeCondition(
  client: ObjectClient,
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
