/**
 * Repairs that a MachineHealthCheck of the real core of Cluster API asks for: it creates and deletes the requests, and replaces what is handed back.
 * Kubelets are what the test writes of them.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterApiObjects } from '../../../src/api/clusterapi/installation.ts';
import {
  KUBENODE_REMEDIATION_TEMPLATES,
  KUBENODE_REMEDIATIONS,
  type KubenodeRemediation,
} from '../../../src/api/clusterapi/remediation.ts';
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { install, installation } from '../../../src/api/install/install.ts';
import {
  MANAGER_SYNC,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { ANNOTATION_DRAIN_HOOK } from '../../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { REMOVED } from '../../rules/sample-rule.ts';
import { type CoreManager, noCoreReason, startCore } from '../../support/cluster-api/core.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import { guideObject } from '../../support/cluster-api/guide.ts';
import { startInfrastructure, type TestProvider } from '../../support/cluster-api/infrastructure.ts';
import {
  createWorkloadCluster,
  HEALTH_CHECKS,
  THEIR_MACHINES,
  WORKLOAD_NAMESPACE,
  type WorkloadCluster,
} from '../../support/cluster-api/workload-cluster.ts';
import { remedier } from '../../support/remediers.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { endLease, killed, startLoggedControllers } from '../defender/processes.ts';
import { POLICY } from './machine-cluster.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
const REPLICAS = 2;
/** Nodes of a test are young. */
const YOUNG = { ...POLICY, blockers: { minNodeAgeSeconds: 0 } };
const SLOW = { interval: 500 };
const reason = noClusterApiReason ?? (await noCoreReason());

const leaf = (type: string, value: string): object => ({
  fact: 'condition',
  params: { type },
  path: '$.status',
  operator: 'equal',
  value,
});
const requested = (status: string): object => ({ condition: { RemediationRequested: { status } } });
/** As the guide has it. */
const REPAIR = {
  '/faultClass': 'Runtime',
  '/target/maxMatchPercent': 100,
  '/rule/conditions': leaf('RemediationRequested', 'True'),
  '/rule/gate': REMOVED,
  '/tests': [
    { name: 'asked', expect: 'Match', given: requested('True') },
    { name: 'not asked', expect: 'NoMatch', given: requested('False') },
    { name: 'not followed', expect: 'Indeterminate', given: {} },
  ],
};
const REPAIRED = { all: [leaf('Ready', 'True'), leaf('RemediationRequested', 'False')] };
const HEALS = [
  {
    name: 'isolate',
    plan: [{ step: 'Cordon' }],
    verify: { conditions: REPAIRED, holdSeconds: 1 },
    onVerified: [{ step: 'Uncordon' }],
  },
  { name: 'person', plan: [{ step: 'HandOff' }] },
];
/** A machine in deletion has no further health checks: its request stays, and the verification does not wait for its end. */
const DRAINS = [
  {
    ...HEALS[0],
    plan: [{ step: 'Cordon' }, { step: 'Drain' }],
    verify: { conditions: { all: [leaf('Ready', 'True')] }, holdSeconds: 1 },
  },
  ...HEALS.slice(1),
];
const FAILS = [
  {
    name: 'wait',
    plan: [{ step: 'WaitForCondition', with: { type: 'Never', status: 'True' }, timeoutSeconds: 1 }],
    verify: { conditions: REPAIRED },
  },
  { name: 'person', plan: [{ step: 'HandOff' }] },
];

describe.skipIf(reason)('repairs that Cluster API asks for', () => {
  let installed: InstalledServer;
  let admin: Client;
  let workload: WorkloadCluster;
  let core: CoreManager | undefined;
  let provider: TestProvider | undefined;
  let controllers: ChildProcess | undefined;
  let logged = '';

  beforeAll(async () => {
    installed = await startInstalledServer();
    admin = installed.server.client;
    // As `kubenode install --cluster-api` does.
    const objects = [...clusterApiObjects(), ...installation()];
    const results = await install(admin, { clock: createSystemClock(), objects });
    const failed = results.find(({ outcome }) => outcome === 'failed');
    if (failed) throw new Error('the installation failed', { cause: failed.error });
    await applyFleetDefault(installed, YOUNG);
    core = await startCore(installed.server);
    provider = await startInfrastructure(admin);
    await start();
    workload = await createWorkloadCluster(installed.server, '1.36.1');
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await core?.stop();
    await provider?.stop();
    await installed?.stop();
  });

  it('CAP-09 run the ladder of the rule, wait while a person holds, and end when the machine is healthy', async () => {
    const [machine = '', other = ''] = await createChecked('heals', HEALS);
    const before = await uids('heals');
    await hold(machine, { reason: 'forensics', scope: 'Disruptive' });
    await report(machine, 'False');
    await expect.poll(() => repairingOf(machine), SLOW).toBe('False HumanHold');
    await hold(machine, null);
    await expect.poll(() => isCordoned(machine), SLOW).toBe(true);
    await expect.poll(() => repairingOf(machine), SLOW).toBe('True JobActive');
    await report(machine, 'True');
    await expect.poll(() => requestFor(machine), SLOW).toBeUndefined();
    await expect.poll(() => outcomes(machine), SLOW).toEqual(['Succeeded']);
    expect(await requestedOn(machine)).toBe('False NotRequested');
    expect(await isCordoned(machine)).toBe(false);
    expect([await outcomes(other), await requestedOn(other)]).toEqual([[], 'False NotRequested']);
    expect(await uids('heals')).toEqual(before);
  });

  it('CAP-20 keep Cluster API from draining a machine until the job on it has ended', async () => {
    const [machine = ''] = await createChecked('drains', DRAINS);
    const lost = await theirUid(machine);
    await report(machine, 'False');
    await expect.poll(() => isCordoned(machine), SLOW).toBe(true);
    await expect.poll(() => hookOf(lost), SLOW).toMatch(/^\w+ for RemedyOperationJob /);
    await deleteTheirs(lost);
    await expect.poll(() => deletionOf(lost), SLOW).toBe('WaitingForPreDrainHook');
    expect(await outcomes(machine)).toEqual([undefined]);
    await report(machine, 'True');
    await expect.poll(() => outcomes(machine), SLOW).toEqual(['Succeeded']);
    await expect.poll(async () => (await uids('drains')).includes(lost), SLOW).toBe(false);
    await expect.poll(async () => (await uids('drains')).length, SLOW).toBe(REPLICAS);
  });

  it('CAP-09 are declared as the guide has them, and refuse what no rule has', async () => {
    const dryRun = { dryRun: true };
    const rule = guideObject('NodeRemedier');
    const template = guideObject('KubenodeRemediationTemplate');
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const asSync = { fieldManager: MANAGER_SYNC, dryRun: true };
    await expect(sync.apply(NODE_REMEDIERS, rule, asSync)).resolves.toMatchObject({ kind: 'NodeRemedier' });
    await expect(admin.create(KUBENODE_REMEDIATION_TEMPLATES, template, dryRun)).resolves.toBeDefined();
    await expect(
      admin.create(HEALTH_CHECKS, guideObject('MachineHealthCheck'), dryRun),
    ).resolves.toBeDefined();
    const { group, version, kind } = KUBENODE_REMEDIATIONS;
    const request = (spec: object): Promise<KubenodeRemediation> => {
      const metadata = { namespace: WORKLOAD_NAMESPACE, name: 'r' };
      return admin.create(
        KUBENODE_REMEDIATIONS,
        { apiVersion: `${group}/${version}`, kind, metadata, spec },
        dryRun,
      );
    };
    expect((await request({ rule: 'capi-repair' })).spec).toEqual({
      rule: 'capi-repair',
      timeoutSeconds: 3600,
    });
    await expect(request({})).rejects.toThrow(/spec.rule: Required/);
    await expect(request({ rule: 'Not A Name' })).rejects.toThrow(/spec.rule/);
    await expect(request({ rule: 'a', timeoutSeconds: 5 })).rejects.toThrow(/greater than or equal to 60/);
  });

  it('CAP-10 hand the machine back when the ladder ends without success, also when killed in the middle, and it is replaced', async () => {
    const [machine = '', other = ''] = await createChecked('fails', FAILS);
    const kept = await theirUid(other);
    const lost = await theirUid(machine);
    await report(machine, 'False');
    await expect.poll(async () => (await outcomes(machine)).length, SLOW).toBeGreaterThan(0);
    if (controllers) await killed(controllers);
    await endLease(admin);
    await start();
    await expect.poll(async () => (await uids('fails')).includes(lost), SLOW).toBe(false);
    await expect.poll(async () => (await uids('fails')).length, SLOW).toBe(REPLICAS);
    expect(await uids('fails')).toContain(kept);
    const ended = await outcomes(machine);
    expect(ended.filter((each) => each === 'HandedOff')).toHaveLength(1);
    expect(await outcomes(other)).toEqual([]);
  });

  async function start(): Promise<void> {
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    const flags = ['--cluster-api', '--log-level', 'info'];
    controllers = startLoggedControllers(kubeconfig, (text) => (logged += text), ...flags);
  }

  /** Machines with a rule, its template and a health check; resolves with our names. */
  async function createChecked(name: string, ladder: readonly object[]): Promise<readonly string[]> {
    await applyRule(name, ladder);
    const { group, version, kind } = KUBENODE_REMEDIATION_TEMPLATES;
    await admin.create(KUBENODE_REMEDIATION_TEMPLATES, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { namespace: WORKLOAD_NAMESPACE, name },
      spec: { template: { spec: { rule: name } } },
    });
    await workload.createDeployment(name, '1.36.1', REPLICAS);
    await workload.createTheirs(HEALTH_CHECKS, name, {
      clusterName: 'c',
      selector: { matchLabels: { deployment: name } },
      checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 1 }] },
      remediation: {
        triggerIf: { unhealthyLessThanOrEqualTo: '100%' },
        templateRef: { apiVersion: `${group}/${version}`, kind, name },
      },
    });
    const followed = async (): Promise<readonly string[]> =>
      (await admin.list<Machine>(MACHINES, deployed(name))).items.map(({ metadata }) => metadata.name);
    await expect.poll(async () => (await followed()).length, SLOW).toBe(REPLICAS);
    const names = await followed();
    for (const each of names) {
      await report(each, 'True');
      await expect.poll(() => requestedOn(each), SLOW).toBe('False NotRequested');
    }
    return names;
  }

  /** As sync does. */
  async function applyRule(name: string, ladder: readonly object[]): Promise<void> {
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const target = { nodeSelector: { matchLabels: { deployment: name } }, maxMatchPercent: 100 };
    const changes = { ...REPAIR, '/target': target, '/ladder': ladder };
    const rule = remedier(changes, { name, annotations: COMMIT });
    await sync.apply(NODE_REMEDIERS, rule, { fieldManager: MANAGER_SYNC });
    const phase = async (): Promise<unknown> =>
      (await admin.get<NodeRemedier>(NODE_REMEDIERS, { name })).status?.phase;
    await expect.poll(phase, SLOW).toBe('Enforcing');
  }

  /** As the kubelet does. Cluster API compares the transition with the clock of this machine. */
  async function report(name: string, status: 'True' | 'False'): Promise<void> {
    const now = createSystemClock().now();
    const lastTransitionTime = new Date(+now - 5000).toISOString();
    const ready = {
      type: 'Ready',
      status,
      reason: status === 'True' ? 'KubeletReady' : 'KubeletNotReady',
      message: '',
      lastTransitionTime,
      lastHeartbeatTime: now.toISOString(),
    };
    const others = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'False',
    }));
    await patchNodeStatus(admin, name, { conditions: [ready, ...others], nodeInfo: { bootID: 'boot-1' } });
  }

  async function hold(name: string, value: object | null): Promise<void> {
    await admin.patch(MACHINES, { name }, { type: 'merge', body: { spec: { hold: value } } });
  }

  /** No garbage collector runs here: the request for a Machine that was replaced stays. */
  async function requestFor(machine: string): Promise<KubenodeRemediation | undefined> {
    const { items } = await admin.list<KubenodeRemediation>(KUBENODE_REMEDIATIONS);
    return items.find(({ status }) => status?.machine === machine);
  }

  async function repairingOf(machine: string): Promise<string | undefined> {
    const { conditions } = (await requestFor(machine))?.status ?? {};
    const { status, reason: why } = conditionOf(conditions, 'Repairing') ?? {};
    return status && `${status} ${why}`;
  }

  async function requestedOn(name: string): Promise<string> {
    const { status } = await admin.get<Machine>(MACHINES, { name });
    const found = conditionOf(status?.conditions, 'RemediationRequested');
    return `${found?.status} ${found?.reason}`;
  }

  async function isCordoned(name: string): Promise<boolean> {
    return valueAt(await admin.get(NODES, { name }), 'spec', 'unschedulable') === true;
  }

  async function outcomes(machine: string): Promise<readonly (string | undefined)[]> {
    const { items } = await admin.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
    return items
      .filter(({ spec }) => spec.machine.name === machine)
      .map(({ status }) => status?.outcome?.class);
  }

  async function uids(deployment: string): Promise<readonly string[]> {
    return (await admin.list(THEIR_MACHINES, deployed(deployment))).items
      .map(({ metadata }) => metadata.uid ?? '')
      .toSorted();
  }

  async function theirsOf(uid: string): Promise<KubeObject | undefined> {
    return (await admin.list(THEIR_MACHINES)).items.find(({ metadata }) => metadata.uid === uid);
  }

  async function hookOf(uid: string): Promise<string> {
    return (await theirsOf(uid))?.metadata.annotations?.[ANNOTATION_DRAIN_HOOK] ?? '';
  }

  async function deletionOf(uid: string): Promise<string | undefined> {
    const conditions = listAt(await theirsOf(uid), 'status', 'conditions');
    return textAt(
      conditions.find((each) => textAt(each, 'type') === 'Deleting'),
      'reason',
    );
  }

  async function deleteTheirs(uid: string): Promise<void> {
    const { name = '', namespace = '' } = (await theirsOf(uid))?.metadata ?? {};
    await admin.delete(THEIR_MACHINES, { name, namespace }, { uid });
  }

  async function theirUid(node: string): Promise<string> {
    const { items } = await admin.list(THEIR_MACHINES);
    return items.find((each) => textAt(each, 'status', 'nodeRef', 'name') === node)?.metadata.uid ?? '';
  }
});

/** Those of theirs and ours have the same labels. */
function deployed(deployment: string): { readonly labelSelector: string } {
  return { labelSelector: `deployment=${deployment}` };
}
