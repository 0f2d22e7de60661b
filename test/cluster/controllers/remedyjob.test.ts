/** The controller of jobs on a real API server under every admission policy, with its own account, and an agent with its. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  DEFENDER_LEDGERS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { AgentStep, JobRelease, Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import {
  AGENT_GROUP,
  agentUser,
  MANAGER_AGENT,
  MANAGER_REMEDY,
  MANAGER_REMEDYJOB,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { createRemedyJobController } from '../../../src/controllers/remedyjob/controller.ts';
import { createView } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { runControllers } from '../../../src/kube/controller/run.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { jobSpec } from '../../controllers/remedyjob/jobs.ts';
import { eventually } from '../../support/eventually.ts';
import { createGranter, type Granter, untilObserved } from '../../support/granter.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, createMachineWithNode, patchNodeStatus } from '../defender/objects.ts';

const MACHINE = 'm';
const JOB = { name: 'm-kernel-hang-7c1f02ab-r1-a1' };
const BEFORE = 'boot-1';
const AFTER = 'boot-2';
const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const clock = createSystemClock();

let installed: InstalledServer;
let admin: Client;
let granter: Granter;
beforeAll(async () => {
  installed = await startInstalledServer();
  admin = installed.server.client;
  const [defender, componentset] = [await account(PRINCIPAL_DEFENDER), await account(PRINCIPAL_COMPONENTSET)];
  granter = createGranter({ defender, componentset, clock });
  await createMachineWithNode(admin, MACHINE);
  await reportBoot(BEFORE);
  await runPod();
});
afterAll(() => installed?.stop());

async function account(principal: string): Promise<Client> {
  return await installed.as(serviceAccountUser(principal), ACCOUNTS);
}

async function reportBoot(bootID: string): Promise<void> {
  await patchNodeStatus(admin, MACHINE, { nodeInfo: { bootID } });
}

/** A pod that ends as soon as it is evicted. */
async function runPod(): Promise<void> {
  const metadata = { name: 'default', namespace: 'default' };
  const manager = { fieldManager: 'test', force: true };
  await admin.apply(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, manager);
  const containers = [{ name: 'main', image: 'x' }];
  const ends = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
  const spec = { nodeName: MACHINE, ...ends, containers };
  await admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'web' }, spec });
}

async function job(): Promise<RemedyOperationJob> {
  return await admin.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, JOB);
}

/** With the grant in the ledger, as kubenode-remedy creates it. */
async function createJob(): Promise<void> {
  const [machine, node] = [
    await admin.get(MACHINES, { name: MACHINE }),
    await admin.get(NODES, { name: MACHINE }),
  ];
  const nodeUID = node.metadata.uid ?? '';
  const holder = { kind: 'RemedyOperationJob', name: JOB.name, origin: 'NodeRemedier/kernel-hang' } as const;
  const recorded = await granter.record(MACHINE, { holder, action: 'Reboot', risk: 'Node', nodeUID });
  const { id, fence, issuedAt, notAfter } = recorded;
  const { verify, ...spec } = jobSpec({
    machine: { name: MACHINE, uid: machine.metadata.uid ?? '' },
    node: { uid: nodeUID, bootID: BEFORE },
    grant: { id, fence, issuedAt, notAfter },
    deadline: new Date(clock.now().getTime() + 3_600_000).toISOString(),
  });
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { ...JOB, finalizers: ['kubenode.dev/settle'] },
    spec: { ...spec, verify: { ...verify, holdSeconds: 2 } },
  };
  const remedy = await account(PRINCIPAL_REMEDY);
  await untilObserved(() => remedy.create(REMEDY_OPERATION_JOBS, object, { fieldManager: MANAGER_REMEDY }));
}

interface RunningJobs {
  readonly settled: string[];
}

/** The Defender renews every grant; the node is well after its boot. */
async function startController(): Promise<RunningJobs> {
  const { kubeconfig } = installed.server;
  const log = memoryLog();
  const settled: string[] = [];
  const client = await account(PRINCIPAL_REMEDYJOB);
  const controller = createRemedyJobController({
    client,
    facts: { read: () => () => ({ status: 'True' }) },
    grants: {
      ask: () => Promise.reject(new Error('no approval is asked for')),
      renew: async ([renewal]) => {
        const notAfter = new Date(clock.now().getTime() + 300_000).toISOString();
        return [{ granted: true, ...renewal, notAfter } as never];
      },
      settle: async (settlements) => {
        settled.push(...settlements.map(({ outcome }) => outcome));
        await granter.settle(MACHINE);
      },
    },
  });
  const shared = { clock, random: () => 0.5, log };
  const kinds: readonly Resource[] = [
    REMEDY_OPERATION_JOBS,
    MACHINES,
    NODES,
    NODE_REMEDIERS,
    DEFENDER_LEDGERS,
  ];
  const views = kinds.map((resource) =>
    createView({ ...shared, client, resource, managers: [MANAGER_REMEDYJOB] }),
  );
  const stop = new AbortController();
  const ended = runControllers(
    {
      ...shared,
      controllers: [controller],
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

/** What the agent of the machine does: each released try once, with an answer as its own account. */
async function answerRelease(begun: Map<string, string>): Promise<void> {
  const found = await job();
  const release = found.status?.release;
  if (release && !begun.has(`${release.step} ${release.try}`)) await carryOutRelease(found, release, begun);
}

async function carryOutRelease(
  found: RemedyOperationJob,
  release: JobRelease,
  begun: Map<string, string>,
): Promise<void> {
  const planned = found.spec.plan.filter(({ id }) => id === release.step).map(({ step }) => step);
  begun.set(`${release.step} ${release.try}`, planned.join());
  const isReboot = planned.includes('Reboot@v1');
  if (isReboot) await reportBoot(AFTER);
  const { step: id, try: attempt, fence } = release;
  const boots = { bootIDBefore: BEFORE, bootIDAfter: isReboot ? AFTER : BEFORE };
  await writeAnswer(found, { id, try: attempt, fence, state: 'Succeeded', ...boots });
}

async function writeAnswer(
  { apiVersion, kind, status }: RemedyOperationJob,
  answer: AgentStep,
): Promise<void> {
  const others = (status?.agent?.steps ?? []).filter(({ id }) => id !== answer.id);
  const object = { apiVersion, kind, metadata: JOB, status: { agent: { steps: [...others, answer] } } };
  const agent = await installed.as(agentUser(MACHINE), [AGENT_GROUP]);
  const applying = { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' };
  await agent.apply(REMEDY_OPERATION_JOBS, object, applying);
}

describe('a repair job on a real API server', { timeout: 180_000 }, () => {
  it('R33 R34 R37 cordons, evicts, reboots once, verifies and gives everything back with the rights of its account', async () => {
    const { settled } = await startController();
    await createJob();
    const begun = new Map<string, string>();
    const cordons = new Set<boolean>();
    const done = await eventually(
      async () => {
        await answerRelease(begun);
        cordons.add(isCordoned(await admin.get(NODES, { name: MACHINE })));
        const found = await job();
        return (found.metadata.finalizers ?? []).length === 0 ? found : undefined;
      },
      'the job did not end',
      120_000,
    );
    expect(done.status).toMatchObject({
      phase: 'Succeeded',
      outcome: { class: 'Succeeded', reason: 'Verified' },
      drain: { total: 1, evicted: 1, pending: 0 },
    });
    expect([...begun.values()]).toEqual(['CollectDiagnostics@v1', 'Reboot@v1']);
    expect(settled).toEqual(['Succeeded']);
    const node = await admin.get(NODES, { name: MACHINE });
    expect([isCordoned(node), node.metadata.annotations ?? {}]).toEqual([false, {}]);
    expect(cordons).toEqual(new Set([false, true]));
    expect((await admin.list(PODS, { namespace: 'default' })).items).toEqual([]);
    const { repairs } = (await admin.get<Machine>(MACHINES, { name: MACHINE })).status ?? {};
    expect(repairs).toMatchObject({ total: 1, recent: [{ job: JOB.name, outcome: 'Succeeded' }] });
    expect(done.status?.timeline).toMatchObject({
      admittedAt: done.spec.grant.issuedAt,
      verifiedAt: expect.any(String) as string,
      settledAt: expect.any(String) as string,
    });
  });
});
