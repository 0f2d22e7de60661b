/** The controller of jobs on a real API server under every admission policy, with its own account; tests create the jobs as kubenode-remedy. */

import { onTestFinished } from 'vitest';
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type {
  JobStep,
  LedgerGrant,
  RemedyOperationJob,
  RemedyOperationJobSpec,
} from '../../../src/api/generated/types.ts';
import {
  MANAGER_REMEDY,
  MANAGER_REMEDYJOB,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import {
  createNotifierController,
  type Notifications,
} from '../../../src/controllers/notifier/controller.ts';
import { createRemedyJobController } from '../../../src/controllers/remedyjob/controller.ts';
import { createTracerController } from '../../../src/controllers/tracer/controller.ts';
import { createView } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { runControllers } from '../../../src/kube/controller/run.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import type { TraceExporter } from '../../../src/observability/trace/otlp/exporter.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createEventAnswers } from '../../../src/providers/event-answers.ts';
import { jobSpec } from '../../controllers/remedyjob/jobs.ts';
import { createGranter, untilObserved } from '../../support/granter.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { createMemoryPower } from '../../support/memory-power.ts';
import { withIndexers } from '../../support/view-indexers.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, createMachineWithNode, patchNodeStatus } from '../defender/objects.ts';

export const BOOT = 'boot-1';

export interface JobCluster {
  readonly installed: InstalledServer;
  readonly admin: Client;
  /** A Machine with a Node that reports this boot. */
  createMachine(name: string): Promise<void>;
  reportBoot(machine: string, bootID: string): Promise<void>;
  /** With the grant in the ledger, as kubenode-remedy creates it. Resolves with its name. */
  createJob(machine: string, parts: JobRequest): Promise<string>;
  job(name: string): Promise<RemedyOperationJob>;
  /** Until the test ends. The Defender renews every grant; each fact has the status True. */
  startController(beside?: Beside): Promise<RunningJobs>;
}

export interface JobRequest {
  readonly action: LedgerGrant['action'];
  readonly risk: LedgerGrant['risk'];
  readonly plan: readonly JobStep[];
  readonly spec?: Partial<RemedyOperationJobSpec>;
}

/** What runs beside the controller of jobs. */
export interface Beside {
  readonly notifications?: Notifications | undefined;
  readonly traces?: TraceExporter | undefined;
}

export interface RunningJobs {
  /** Outcomes of grants. */
  readonly settled: string[];
}

const clock = createSystemClock();
const KINDS: readonly Resource[] = [
  REMEDY_OPERATION_JOBS,
  MACHINES,
  NODES,
  NODE_REMEDIERS,
  DEFENDER_LEDGERS,
  MAINTENANCE_EVENTS,
];

export async function startJobCluster(): Promise<JobCluster> {
  const installed = await startInstalledServer();
  const admin = installed.server.client;
  const account = (principal: string): Promise<Client> =>
    installed.as(serviceAccountUser(principal), ACCOUNTS);
  const [defender, componentset] = [await account(PRINCIPAL_DEFENDER), await account(PRINCIPAL_COMPONENTSET)];
  const granter = createGranter({ defender, componentset, clock });
  return { installed, admin, createMachine, reportBoot, createJob, job, startController };

  async function createMachine(name: string): Promise<void> {
    await createMachineWithNode(admin, name);
    await reportBoot(name, BOOT);
  }

  async function reportBoot(machine: string, bootID: string): Promise<void> {
    await patchNodeStatus(admin, machine, { nodeInfo: { bootID } });
  }

  async function job(name: string): Promise<RemedyOperationJob> {
    return await admin.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { name });
  }

  async function createJob(machine: string, { action, risk, plan, spec }: JobRequest): Promise<string> {
    const { uid = '' } = (await admin.get(MACHINES, { name: machine })).metadata;
    const nodeUID = (await admin.get(NODES, { name: machine })).metadata.uid ?? '';
    const name = `${machine}-kernel-hang-7c1f02ab-r1-a1`;
    const holder = { kind: 'RemedyOperationJob', name, origin: 'NodeRemedier/kernel-hang' } as const;
    const recorded = await granter.record(machine, { holder, action, risk, nodeUID });
    const { id, fence, issuedAt, notAfter } = recorded;
    const deadline = new Date(clock.now().getTime() + 3_600_000).toISOString();
    const {
      verify: _,
      onVerified: __,
      ...fields
    } = jobSpec({
      machine: { name: machine, uid },
      node: { uid: nodeUID, bootID: BOOT },
      grant: { id, fence, issuedAt, notAfter },
      risk,
      plan,
      deadline,
    });
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'RemedyOperationJob',
      metadata: { name, finalizers: ['kubenode.dev/settle'] },
      spec: { ...fields, ...spec },
    };
    const remedy = await account(PRINCIPAL_REMEDY);
    await untilObserved(() => remedy.create(REMEDY_OPERATION_JOBS, object, { fieldManager: MANAGER_REMEDY }));
    return name;
  }

  async function startController({ notifications, traces }: Beside = {}): Promise<RunningJobs> {
    const { kubeconfig } = installed.server;
    const settled: string[] = [];
    const client = await account(PRINCIPAL_REMEDYJOB);
    const controller = createRemedyJobController({
      client,
      switches: createMemoryPower({ clock }),
      eventAnswers: createEventAnswers(() => ({})),
      facts: { read: () => () => ({ status: 'True' }), onChange: () => () => {} },
      grants: {
        ask: () => Promise.reject(new Error('no approval is asked for')),
        renew: async ([renewal]) => {
          const notAfter = new Date(clock.now().getTime() + 300_000).toISOString();
          return [{ granted: true, ...renewal, notAfter } as never];
        },
        settle: async (settlements) => {
          settled.push(...settlements.map(({ outcome }) => outcome));
          for (const { id } of settlements) await settle(id);
        },
      },
    });
    const shared = { clock, random: () => 0.5, log: memoryLog() };
    // As in `kubenode controllers`, others read for it.
    const readers = new Map<Resource, Client>([
      [MAINTENANCE_EVENTS, await account(PRINCIPAL_HOSTDOCTOR)],
      [MACHINE_COMPONENT_SETS, componentset],
    ]);
    const kinds = traces ? [...KINDS, MACHINE_COMPONENT_SETS] : KINDS;
    const views = kinds.map((resource) => {
      const reader = readers.get(resource) ?? defender;
      const managers = [MANAGER_REMEDYJOB];
      return createView({ ...shared, client: reader, resource, managers, ...withIndexers(resource) });
    });
    const stop = new AbortController();
    const ended = runControllers(
      {
        ...shared,
        controllers: [
          controller,
          ...(notifications
            ? [createNotifierController({ ...notifications, metrics: { sent: () => undefined } })]
            : []),
          ...(traces ? [createTracerController(traces)] : []),
        ],
        views: Object.fromEntries(views.map((view) => [view.resource.kind, view])),
        reporter: { domain: 'test', instance: 'one' },
        connect: (principal) => connect({ kubeconfig, ...principal }),
      },
      stop.signal,
    );
    ended.catch(() => {}); // its end is awaited below
    onTestFinished(async () => {
      stop.abort();
      await ended.catch(() => {});
    });
    return { settled };
  }

  async function settle(grant: string): Promise<void> {
    const { items } = await admin.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
    const own = items.find(({ spec }) => spec.grant.id === grant);
    if (own) await granter.settle(own.spec.machine.name);
  }
}
