/** Component sets with `kubenode controllers` on a real API server, over machines whose programs a test breaks. */
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { openAgent } from '../../../src/agent/run/agent.ts';
import { createAgentApi } from '../../../src/agent/run/api.ts';
import { createReconcileTrigger } from '../../../src/agent/run/trigger.ts';
import type { SimulatedAgentOptions } from '../../../src/agent/simulate/agent.ts';
import {
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSet, Rollout, Selector } from '../../../src/api/generated/types.ts';
import { hasStartupTaint } from '../../../src/api/machine/node-state.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { eventually } from '../../support/eventually.ts';
import { readLedger, readPolicy } from '../defender/objects.ts';
import { type MachineCluster, type OpenControllers, startMachineCluster } from './machine-cluster.ts';
import { type RolloutHistory, recordRollouts } from './rollout-history.ts';

const MANAGER = 'test';

export type SetStatus = NonNullable<MachineComponentSet['status']>;

export interface DeclaredRollout {
  readonly rollout?: Partial<Rollout>;
  readonly paused?: boolean;
  readonly retryToken?: string;
  readonly machineSelector?: Partial<Selector>;
  /** Default: the one with the name of the pool. */
  readonly set?: string;
  /** How long the update of a machine lasts. Default: 1. */
  readonly commitAfterSeconds?: number;
}

/** Each test has a pool of its own: a set, its component and its machines have the name of the pool. */
export interface RolloutFleet {
  readonly cluster: MachineCluster;
  readonly history: RolloutHistory;
  /** Versions, as `<component>-<version>`, whose program ends as soon as it is started on any machine but the first. */
  readonly broken: Set<string>;
  /** Machines that are Ready and run version 1.0. Returns their names. */
  pool(name: string, machines: number): Promise<readonly string[]>;
  /** As git does: the whole spec of the set. */
  declare(pool: string, version: string, more?: DeclaredRollout): Promise<void>;
  set(pool: string): Promise<MachineComponentSet>;
  machines(pool: string): Promise<readonly Machine[]>;
  /** By machine, what its agent reports as installed. */
  versions(pool: string): Promise<Readonly<Record<string, string | undefined>>>;
  /** Waits until the status of the set is as the test requires. */
  setIs(pool: string, what: string, test: (status: SetStatus) => boolean): Promise<SetStatus>;
  /** Waits until a machine was started in the batch of the newest revision of the pool. Returns that revision. */
  startedIn(pool: string, batch: number): Promise<string>;
  /** How often the program was started on the host of the machine. */
  programStarts(machine: string): number;
  /** Machines whose grant of the set is not settled. */
  openGrants(pool: string): Promise<readonly string[]>;
  /** Waits until the set is at its end with the version that it declares. */
  completed(pool: string): Promise<SetStatus>;
  stop(): Promise<void>;
}

/** All machines at once, and no soak. */
const SHORT: Partial<Rollout> = {
  batches: ['100%'],
  maxUnavailable: '100%',
  gate: gateOf(0),
  machineTimeoutSeconds: 60,
  progressDeadlineSeconds: 60,
};

export async function startRolloutFleet(open?: OpenControllers): Promise<RolloutFleet> {
  const broken = new Set<string>();
  const firstToRun = new Map<string, string>();
  const hosts = new Map<string, MemoryHost>();
  const cluster = await startMachineCluster(async (options, signal) => {
    const host = createMemoryHost({ clock: options.clock, artifacts: new Map() });
    host.units.behave(({ component, exec }) => {
      const version = `${component}-${exec?.env['VERSION']}`;
      // Were the first to fail, the others of its batch might never be started.
      const first = firstToRun.get(version) ?? options.machine;
      firstToRun.set(version, first);
      return broken.has(version) && first !== options.machine ? 'Exits' : 'Runs';
    });
    hosts.set(options.machine, host);
    await runOn(host, options, signal);
  }, open);
  const { admin } = cluster;
  const history = await recordRollouts(admin);
  cluster.start(1);
  // An agent that was there before the controllers is Ready only after its second heartbeat.
  const isInForce = async (): Promise<true | undefined> =>
    (await readPolicy(admin)).status?.phase === 'InForce' || undefined;
  await eventually(isInForce, 'the controllers did not start');
  const fleet: RolloutFleet = {
    cluster,
    history,
    broken,
    async pool(name, count) {
      const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
      await Promise.all(names.map((each) => admin.create(MACHINES, machineObject(each, name))));
      const established = async (): Promise<true | undefined> => {
        const nodes = (await admin.list(NODES)).items.filter((node) => !hasStartupTaint(node));
        const serving = new Set(nodes.map(({ metadata }) => metadata.name));
        return names.every((each) => serving.has(each)) || undefined;
      };
      await eventually(established, `the machines of pool ${name} were not Ready`);
      await fleet.declare(name, '1.0');
      await fleet.completed(name);
      // The phase of a machine is written after its agent reported the last component.
      const ready = async (): Promise<true | undefined> =>
        (await fleet.machines(name)).every(({ status }) => status?.phase === 'Ready') || undefined;
      await eventually(ready, `a machine of pool ${name} did not get the phase Ready`);
      return names;
    },
    async declare(pool, version, { rollout = {}, set: name = pool, commitAfterSeconds, ...more } = {}) {
      const options = { fieldManager: MANAGER, force: true };
      const componentRef = `${pool}-${version}`;
      const metadata = { name: componentRef };
      const head = { apiVersion: API_VERSION, kind: 'MachineComponent', metadata };
      await admin.apply(
        MACHINE_COMPONENTS,
        { ...head, spec: programSpec(pool, version, commitAfterSeconds) },
        options,
      );
      const spec = {
        machineSelector: { matchLabels: { pool } },
        components: [{ name: pool, componentRef }],
        rollout: { ...SHORT, ...rollout },
        ...more,
      };
      const set = { ...head, kind: 'MachineComponentSet', metadata: { name }, spec };
      await admin.apply(MACHINE_COMPONENT_SETS, set, options);
    },
    set: (name) => admin.get<MachineComponentSet>(MACHINE_COMPONENT_SETS, { name }),
    machines: async (pool) => {
      const { items } = await admin.list<Machine>(MACHINES, { labelSelector: `pool=${pool}` });
      return items;
    },
    async versions(pool) {
      const machines = await fleet.machines(pool);
      return Object.fromEntries(
        machines.map(({ metadata, status }) => [metadata.name, status?.components?.[0]?.currentRef]),
      );
    },
    async setIs(pool, what, test) {
      let last: MachineComponentSet | undefined;
      const found = async (): Promise<SetStatus | undefined> => {
        last = await fleet.set(pool);
        const { status, metadata } = last;
        return status && status.observedGeneration === metadata.generation && test(status)
          ? status
          : undefined;
      };
      return await eventually(found, `set ${pool} was not ${what}`).catch((error: unknown) => {
        throw new Error(`last status: ${JSON.stringify(last?.status)}`, { cause: error });
      });
    },
    async startedIn(pool, batch) {
      const before = (await fleet.set(pool)).status?.currentRevision;
      const found = async (): Promise<string | undefined> =>
        history.startsSoFar(pool).find((start) => start.revision !== before && start.batch === batch)
          ?.revision;
      return await eventually(found, `no machine of ${pool} was started in batch ${batch}`);
    },
    programStarts: (machine) => {
      const starts = hosts.get(machine)?.units.starts ?? new Map<string, number>();
      return [...starts.values()].reduce((sum, count) => sum + count, 0);
    },
    async openGrants(pool) {
      const { grants } = (await readLedger(admin)).spec;
      return Object.entries(grants).flatMap(([machine, { holder, state }]) =>
        holder.name === pool && state !== 'Settled' ? [machine] : [],
      );
    },
    completed: (pool) =>
      fleet.setIs(pool, 'completed', (status) => {
        const isUpToDate = conditionStatus(status.conditions, 'UpToDate') === 'True';
        return isUpToDate && status.phase === 'Completed' && status.history?.[0]?.result === 'Completed';
      }),
    async stop() {
      await history.stop();
      await cluster.stop();
    },
  };
  return fleet;
}

export function gateOf(soakSeconds: number): Rollout['gate'] {
  return { soakSeconds, checks: [], approval: 'None' };
}

function machineObject(name: string, pool: string): Parameters<MachineCluster['admin']['create']>[1] {
  return {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name, labels: { pool, machine: name } },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' }, node: { labels: { pool } } },
  };
}

/** One program without files, so that nothing is downloaded. */
export function programSpec(component: string, version: string, commitAfterSeconds = 1): object {
  const exec = { argv: [`/usr/bin/${component}`], env: { VERSION: version }, user: 'root' };
  const units = componentSpec(version).units.map((unit) => ({ ...unit, name: component, exec }));
  return componentSpec(version, { component, units, files: [], artifacts: [], commitAfterSeconds });
}

async function runOn(
  host: MemoryHost,
  { machine, client, version, clock, log, random }: SimulatedAgentOptions,
  signal: AbortSignal,
): Promise<void> {
  const trigger = createReconcileTrigger(clock);
  const onChange = (): void => trigger.notify();
  const api = createAgentApi({ client, machine, clock, log, random, onChange });
  const clusterServer = client.server;
  const agent = await openAgent({ host, api, clock, log, random, machine, version, clusterServer, trigger });
  await Promise.all([api.run(signal), agent.run(signal)]);
  await agent[Symbol.asyncDispose]();
}
