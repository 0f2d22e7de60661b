/** An API server with one Machine, for the loop of the agent. */
import type { AgentApi } from '../../../src/agent/run/api.ts';
import type {
  AgentStep,
  Machine,
  MachineComponent,
  MachineComponentSpec,
  MachineStatus,
  RemedyOperationJob,
} from '../../../src/api/generated/types.ts';
import { entryDigest } from '../../../src/api/machine/entry-content.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';

type Entry = Machine['spec']['components'][number];

export interface FakeAgentApi extends AgentApi {
  online: boolean;
  heartbeats: number;
  readonly statuses: Partial<MachineStatus>[];
  /** Jobs by name. What the agent answers is in their status. */
  readonly repairs: Map<string, RemedyOperationJob>;
  nodeUidNow: string | undefined;
  skewMs: number | undefined;
  /** Declares components, each with a grant unless `granted` is false. */
  declare(specs: readonly MachineComponentSpec[], options?: DeclareOptions): void;
  /** The Machine is deleted. With a UID, another one of its name exists. */
  deleteMachine(recreatedUid?: string): void;
}

interface DeclareOptions {
  readonly granted?: boolean;
  readonly entry?: Partial<Entry>;
  readonly spec?: Partial<Machine['spec']>;
}

export function entryOf(spec: MachineComponentSpec, granted = true, fields: Partial<Entry> = {}): Entry {
  const componentRef = `${spec.component}-${spec.version}`;
  const entry = {
    name: spec.component,
    componentRef,
    digest: digestOf(spec),
    state: 'Present',
    parameters: {},
    ...fields,
  } as const;
  const id = `grant-${componentRef}`;
  const grant = { id, fence: 1, entryDigest: entryDigest(entry), notAfter: '2099-01-01T00:00:00Z' };
  return granted ? { ...entry, grant } : entry;
}

export function fakeAgentApi(): FakeAgentApi {
  const components = new Map<string, MachineComponent>();
  let machine: Machine | undefined;
  let generation = 0;
  const api: FakeAgentApi = {
    online: true,
    heartbeats: 0,
    statuses: [],
    repairs: new Map(),
    nodeUidNow: 'node-1',
    skewMs: 0,
    machine: () => (api.online ? machine : undefined),
    isOnline: () => api.online,
    async component(ref) {
      if (!api.online) throw new Error('the API server does not answer');
      return components.get(ref);
    },
    nodeCondition: async () => undefined,
    async writeStatus(_machine, status) {
      api.statuses.push(status);
    },
    async heartbeat() {
      api.heartbeats += 1;
    },
    jobs: () => (api.online ? [...api.repairs.values()] : undefined),
    nodeMissingSince: () => undefined,
    nodeUid: async () => api.nodeUidNow,
    clockSkewMs: () => api.skewMs,
    async writeJobStatus({ name, uid }, steps) {
      const job = api.repairs.get(name);
      if (!job || job.metadata.uid !== uid) throw new Error(`there is no job ${name} with UID ${uid}`);
      requireForward(job.status?.agent?.steps ?? [], steps);
      api.repairs.set(name, { ...job, status: { conditions: [], ...job.status, agent: { steps } } });
    },
    run: async () => undefined,
    deleteMachine(recreatedUid) {
      const metadata = { ...machine?.metadata, uid: recreatedUid };
      machine = recreatedUid === undefined ? undefined : ({ ...machine, metadata } as unknown as Machine);
    },
    declare(specs, { granted = true, entry, spec } = {}) {
      generation += 1;
      for (const each of specs) {
        components.set(`${each.component}-${each.version}`, { spec: each } as MachineComponent);
      }
      machine = {
        metadata: { name: 'n1', uid: 'uid-1', generation },
        spec: { components: specs.map((each) => entryOf(each, granted, entry)), ...spec },
      } as unknown as Machine;
    },
  };
  return api;
}

/** As the rules of the API: no step is removed, and a finished one only starts again with a higher try. */
function requireForward(before: readonly AgentStep[], after: readonly AgentStep[]): void {
  for (const old of before) {
    const now = after.find(({ id }) => id === old.id);
    const isAllowed = now && (old.state === 'Running' || now.state === old.state || now.try > old.try);
    if (!isAllowed) throw new Error(`step ${old.id} went from ${old.state} to ${now?.state}`);
  }
}
