/** A fleet for the controller in memory: the real runtime over an API server, a ledger, and agents that do what they are asked to. */
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSet, Rollout } from '../../../src/api/generated/types.ts';
import { createComponentSetController } from '../../../src/controllers/componentset/controller.ts';
import { CONTROLLER_REVISIONS } from '../../../src/controllers/componentset/revision/stored-revisions.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { CheckRunner } from '../../../src/rollout/checks/runner.ts';
import { createCheckScheduler } from '../../../src/rollout/checks/scheduler.ts';
import { type ServedKind, servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { type MemoryGrants, memoryGrants } from '../../support/memory-grants.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { componentSet, ROLLOUT } from './component-set.ts';
import { type Behavior, SimulatedMachine } from './simulation/simulated-machine.ts';

const KINDS: readonly ServedKind[] = [
  servedKind(MACHINE_COMPONENT_SETS),
  servedKind(MACHINES),
  servedKind(MACHINE_COMPONENTS),
  servedKind(DEFENDER_LEDGERS),
  servedKind(REMEDY_OPERATION_JOBS),
  servedKind(NODES),
  { resource: CONTROLLER_REVISIONS },
];
const SET = 'general';
const API_VERSION = 'kubenode.dev/v1alpha1';

export interface FleetParts {
  readonly machines: number;
  readonly rollout?: Partial<Rollout>;
  readonly lease?: boolean;
  /** Runs the http and promql checks of the set. */
  readonly checkRunner?: CheckRunner;
}

export interface FleetBed extends ControllerBed {
  readonly grants: MemoryGrants;
  readonly agents: ReadonlyMap<string, SimulatedMachine>;
  behaviorOf: (componentRef: string, machine: string) => Behavior;
  /** git asks for that version. */
  readonly version: (version: string, more?: Partial<MachineComponentSet['spec']>) => void;
  readonly edit: (spec: Partial<MachineComponentSet['spec']>) => void;
  /** Agents work, and time passes. */
  readonly run: (seconds: number) => Promise<void>;
  readonly set: () => MachineComponentSet | undefined;
  readonly machine: (name: string) => Machine | undefined;
  /** Machines that run each version, and grants that are out. */
  readonly summary: () => string;
}

const SHORT: Partial<Rollout> = {
  batches: [1, 2],
  maxUnavailable: '100%',
  gate: { soakSeconds: 5, checks: [], approval: 'None' },
};

export function createFleetBed({ machines, rollout = {}, lease = false, checkRunner }: FleetParts): FleetBed {
  let bed: ControllerBed | undefined;
  const clock = { now: () => made().clock.now() };
  const grants = memoryGrants(clock);
  // Each process has its own, so that nothing is remembered over a kill but in the API server.
  const open = (): Controller =>
    createComponentSetController({
      grants: recorded(grants, writeLedger),
      readServers: async () => ({ state: 'Unknown', because: 'no kubelet is rolled out here' }),
      ...(checkRunner
        ? { createChecks: (onResult) => createCheckScheduler(checkRunner, made().clock, onResult) }
        : {}),
    });
  const created = createControllerBed({ controllers: () => [open()], kinds: KINDS, lease });
  bed = created;
  const sent = new Map<string, string>();
  const agents = new Map<string, SimulatedMachine>();
  let spec = componentSet(SET, { rollout: { ...ROLLOUT, ...SHORT, ...rollout } }).spec;
  for (let index = 1; index <= machines; index += 1) join(`m-${index}`, created.clock);
  writeLedger();
  const fleet: FleetBed = {
    ...created,
    grants,
    agents,
    behaviorOf: () => 'Good',
    version: (version, more = {}) => {
      const componentRef = declare(version);
      const components = [{ name: 'app', componentRef, state: 'Present', parameters: {} } as const];
      fleet.edit({ components, ...more });
    },
    edit: (more) => {
      spec = { ...spec, ...more };
      created.apply({ apiVersion: API_VERSION, kind: 'MachineComponentSet', metadata: { name: SET }, spec });
    },
    run,
    set: () => created.get<MachineComponentSet>(MACHINE_COMPONENT_SETS, SET),
    machine: (name) => created.get<Machine>(MACHINES, name),
    summary: () => {
      const counts = Map.groupBy(agents.values(), ({ runs }) => runs);
      const versions = [...counts].map(([runs, { length }]) => `${length} run ${runs}`).toSorted();
      return `${versions.join(', ')}; grants: ${grants.open.size}`;
    },
  };
  return fleet;

  function made(): ControllerBed {
    if (!bed) throw new Error('not made yet');
    return bed;
  }

  function writeLedger(): void {
    const ledger = { seq: 1, epoch: 1, recovering: false, grants: Object.fromEntries(grants.open) };
    made().apply({
      apiVersion: API_VERSION,
      kind: 'DefenderLedger',
      metadata: { name: 'default' },
      spec: ledger,
    });
  }

  function join(name: string, { now }: Pick<VirtualClock, 'now'>): void {
    agents.set(name, new SimulatedMachine(name, now(), { activate: 1, prove: 1 }));
    const { status: _, metadata, ...rest } = machine(name, { spec: { components: [] } });
    created.apply({ ...rest, metadata: { name: metadata.name } });
  }

  function declare(version: string): string {
    const name = `app-${version}`;
    const content = {
      component: 'app',
      version,
      identity: 'None',
      parameters: [],
      ports: [],
      artifacts: [],
      files: [{ path: '/etc/app', content: version, onChange: 'Restart', units: [] }],
      units: [{ name: 'app', type: 'Process', running: true }],
      probes: [],
      activation: { class: 'Restart' },
      dependsOn: [],
    };
    created.apply({ apiVersion: API_VERSION, kind: 'MachineComponent', metadata: { name }, spec: content });
    return name;
  }

  async function run(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      for (const agent of agents.values()) work(agent);
      // oxlint-disable-next-line no-await-in-loop -- one second after the other
      for (let part = 0; part < 4; part += 1) await created.clock.advance(250);
    }
  }

  /** What is the same is not sent. */
  function applyChanged(object: KubeObject, subresource?: string): void {
    const key = `${object.kind} ${object.metadata.name} ${subresource}`;
    const text = JSON.stringify(object);
    if (sent.get(key) === text) return;
    sent.set(key, text);
    created.apply(object, subresource);
  }

  function work(agent: SimulatedMachine): void {
    const found = fleet.machine(agent.name);
    if (!found) return;
    agent.entries = found.spec.components;
    agent.generation = found.metadata.generation ?? 0;
    agent.tick(created.clock.now(), (ref, name) => fleet.behaviorOf(ref, name));
    if (agent.isSilent) return;
    const { status } = agent.machine();
    const beat = Math.floor(created.clock.monotonicMs() / 10_000);
    for (const object of observationsOf(agent, status, beat)) applyChanged(...object);
  }
}

function observationsOf(
  agent: SimulatedMachine,
  status: Machine['status'],
  beat: number,
): readonly (readonly [KubeObject, string?])[] {
  const { name } = agent;
  const { status: nodeStatus, ...node } = agent.node();
  const { labels } = node.metadata;
  const its = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  const lease = { name, namespace: 'kubenode-agents' };
  return [
    [{ apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, status }, 'status'],
    [{ ...its, metadata: { name, labels: labels ?? {} }, spec: {} }],
    [{ ...its, status: nodeStatus }, 'status'],
    [
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: lease,
        spec: { renewTime: new Date(Date.UTC(2030, 0, 1, 12) + beat * 10_000).toISOString() },
      },
    ],
  ];
}

/** What the port does is in the ledger when it answers. */
function recorded(
  grants: MemoryGrants,
  written: () => void,
): Pick<MemoryGrants, 'ask' | 'dryRun' | 'renew' | 'settle'> {
  const after = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await work;
    written();
    return answer;
  };
  return {
    dryRun: (asks) => grants.dryRun(asks),
    ask: (asks) => after(grants.ask(asks)),
    renew: (renewals) => after(grants.renew(renewals)),
    settle: (settlements) => after(grants.settle(settlements)),
  };
}
