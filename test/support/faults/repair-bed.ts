/**
 * The controllers of rules, of jobs and of announced maintenance with their live facts, over an API server in memory. Fixtures of faults are played on it:
 * a machine whose kubelet, detector and agent live on while controllers crash.
 */

import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createHostDoctorController } from '../../../src/controllers/hostdoctor/controller.ts';
import { createRemedyController } from '../../../src/controllers/remedy/controller/controller.ts';
import { createRemedyJobController } from '../../../src/controllers/remedyjob/controller.ts';
import { createView, type View } from '../../../src/kube/cache/view.ts';
import type { RunOptions } from '../../../src/kube/controller/run.ts';
import { BUDGETS } from '../../../src/kube/drain/budgets.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODE_EVENTS, NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createEventAnswers } from '../../../src/providers/event-answers.ts';
import { createLiveFacts } from '../../../src/rules/live/live-facts.ts';
import { createFactViews, FACT_VIEWS } from '../../../src/rules/views.ts';
import { type ServedKind, servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine } from '../builders.ts';
import { type ControllerBed, createControllerBed } from '../controller/bed.ts';
import type { MemoryConnection } from '../controller/memory-api.ts';
import { type MemoryGrants, memoryGrants } from '../memory-grants.ts';
import { type MemoryLog, memoryLog } from '../memory-log.ts';
import { createMemoryPower } from '../memory-power.ts';
import { withIndexers } from '../view-indexers.ts';
import { createSimulatedNode, type SimulatedNode } from './simulated-node.ts';

const KINDS: readonly ServedKind[] = [
  servedKind(NODE_REMEDIERS),
  servedKind(REMEDY_OPERATION_JOBS),
  servedKind(MACHINES),
  servedKind(NODES),
  servedKind(MAINTENANCE_EVENTS),
  { resource: DEFENDER_LEDGERS },
  { resource: MACHINE_COMPONENTS },
  { resource: NODE_EVENTS },
  { resource: PODS },
  { resource: BUDGETS },
];
const READ = [
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
  MACHINES,
  NODES,
  DEFENDER_LEDGERS,
  MACHINE_COMPONENTS,
  MAINTENANCE_EVENTS,
  LEASES,
] as const;

export interface RepairBed extends Pick<ControllerBed, 'api' | 'clock' | 'apply' | 'delete' | 'start'> {
  readonly node: SimulatedNode;
  readonly grants: MemoryGrants;
  readonly log: MemoryLog;
  /** By how much the wall clock of the machine of the controllers is ahead. */
  skewSeconds: number;
  /** Time passes, and the machine takes its turns: with longer ones where little happens. */
  live(seconds: number, turnSeconds?: number): Promise<void>;
  machine(): Machine | undefined;
  remedier(name?: string): NodeRemedier | undefined;
  /** Oldest first. */
  jobs(): readonly RemedyOperationJob[];
  /** `soft 1 Succeeded`: rung, attempt and outcome of each job. */
  attempts(): readonly string[];
  /** Notes of the Events about the machine. */
  notes(): readonly string[];
}

/** Machine `m` with its Node, and these rules. */
export function createRepairBed(rules: readonly NodeRemedier[]): RepairBed {
  const log = memoryLog();
  const opened = createControllerBed({
    controllers: [],
    kinds: KINDS,
    objects: [machineObject(), ledger({}), ...rules],
    open,
    get options() {
      return { clock: processClock() };
    },
  });
  const grants = memoryGrants(opened.clock);
  grants.changed = (entries) => opened.apply(ledger(entries));
  const node = createSimulatedNode(opened);
  const bed: RepairBed = {
    ...opened,
    node,
    grants,
    log,
    skewSeconds: 0,
    live,
    machine: () => opened.get(MACHINES, 'm'),
    remedier: (name = 'fault') => opened.get(NODE_REMEDIERS, name),
    jobs,
    attempts: () =>
      jobs().map(
        ({ spec, status }) => `${spec.rung.name} ${spec.attempt} ${status?.outcome?.class ?? 'at work'}`,
      ),
    notes: () => opened.api.journal.flatMap(({ what, body }) => noteOf(what, body)),
  };
  return bed;

  function processClock(): RunOptions['clock'] {
    const { clock } = opened;
    return {
      monotonicMs: () => clock.monotonicMs(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      now: () => new Date(clock.now().getTime() + bed.skewSeconds * 1000),
    };
  }

  async function open(connection: MemoryConnection): Promise<Pick<RunOptions, 'controllers' | 'views'>> {
    const client = await connection.connect();
    const clock = processClock();
    const shared = { client, clock, random: () => 0, log };
    const views = new Map<string, View>(READ.map((resource) => [resource.kind, viewOf(resource, shared)]));
    const events = createView({ ...shared, resource: NODE_EVENTS, ...FACT_VIEWS.events.selection });
    const found = <T extends KubeObject>({ kind }: Resource<T>): View<T> =>
      views.get(kind) as unknown as View<T>;
    const facts = createLiveFacts({
      clock,
      skewSeconds: () => bed.skewSeconds,
      views: createFactViews(({ resource }, name) => (name === 'events' ? events : found(resource))),
    });
    return {
      controllers: [
        createRemedyController({ facts, grants }),
        createRemedyJobController({
          facts,
          grants,
          client,
          switches: createMemoryPower({ clock }),
          eventAnswers: createEventAnswers(() => ({})),
        }),
        createHostDoctorController({ skewSeconds: () => bed.skewSeconds }),
      ],
      views: { ...Object.fromEntries(views), [NODE_EVENTS.kind]: events },
    };
  }

  async function live(seconds: number, turnSeconds = 0.5): Promise<void> {
    for (let left = seconds; left > 0; left -= turnSeconds) {
      await opened.clock.advance(turnSeconds * 1000); // oxlint-disable-line no-await-in-loop -- one turn after the other
      node.turn(jobs());
    }
  }

  function jobs(): readonly RemedyOperationJob[] {
    const all = opened.api.objects.list({ resource: REMEDY_OPERATION_JOBS }, undefined);
    return (all as RemedyOperationJob[]).toSorted((a, b) => +begunAt(a) - +begunAt(b));
  }
}

function viewOf(resource: Resource, shared: Omit<Parameters<typeof createView>[0], 'resource'>): View {
  return createView({
    ...shared,
    resource,
    managers: ['kubenode-remedy', 'kubenode-remedyjob', 'kubenode-hostdoctor'],
    ...withIndexers(resource),
  });
}

function begunAt({ spec }: RemedyOperationJob): Date {
  return new Date(spec.grant.issuedAt);
}

function noteOf(what: string, body: unknown): readonly string[] {
  if (!what.startsWith('create Event') || textAt(body, 'regarding', 'name') !== 'm') return [];
  return [textAt(body, 'note') ?? ''];
}

function machineObject(): KubeObject {
  const { status: _, metadata, ...rest } = machine('m');
  return { ...rest, metadata: { name: metadata.name } };
}

function ledger(grants: object): KubeObject {
  const metadata = { name: 'default' };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata,
    spec: { grants, approvals: {} },
  };
}
