/**
 * A small world under the installation: Machines n17 and n18 with their Nodes and jobs, a ledger, and what git
 * holds. Everything is tried as a dry run, which passes authorization and admission like any write and leaves
 * the world as it is, so that an attempt can be repeated until the server's caches have caught up.
 */
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import {
  AGENT_GROUP,
  agentUser,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { accepted } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import { type Installed, startInstalled } from './installed.ts';

export interface World extends Installed {
  readonly admin: Client;
  agent(machine: string): Promise<Client>;
  account(principal: string): Promise<Client>;
  /** A person; ClusterRoles are bound to the group of the same name. */
  person(role: string): Promise<Client>;
}

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

export async function startWorld(): Promise<World> {
  const installed = await startInstalled();
  const world: World = {
    ...installed,
    admin: installed.server.client,
    agent: (machine) => installed.as(agentUser(machine), [AGENT_GROUP]),
    account: (principal) => installed.as(serviceAccountUser(principal), ACCOUNTS),
    person: (role) => installed.as(`anna-${role}`, [role]),
  };
  try {
    await populate(world);
    await world.server.keep();
    return world;
  } catch (error) {
    await world.stop();
    throw error;
  }
}

async function populate(world: World): Promise<void> {
  const { admin } = world;
  const sync = await world.account(PRINCIPAL_SYNC);
  const defender = await world.account(PRINCIPAL_DEFENDER);
  const remedy = await world.account(PRINCIPAL_REMEDY);
  for (const name of ['n17', 'n18']) {
    await admin.create(resources.Node, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { pool: 'a' } },
    });
    await writeCase(admin, {
      it: '',
      kind: 'Machine',
      object: renamed(example('Machine reports what its agent sees'), name),
    });
  }
  const { metadata } = await defender.get(resources.DefenderLedger, { name: 'default' });
  await defender.replace(resources.DefenderLedger, { ...ledger(), metadata });
  await answer(remedy, create(job('n17')), 'allowed');
  for (const machine of ['n17', 'n18']) await remedy.create(resources.RemedyOperationJob, job(machine));
  for (const it of ['Cluster is reached by a kubeconfig', 'MachineSet is twelve machines of one shape']) {
    await writeCase(sync, { it, kind: '', object: example(it) });
  }
  const limits = ['DefenderPolicy is the default of the fleet', 'DefenderPolicy only audits, for a pool'];
  for (const it of ['NodeRemedier cleans full disks', ...limits]) {
    await writeCase(sync, { it, kind: '', object: example(it) });
  }
}

/** An object of the corpus. */
export function example(it: string): KubeObject {
  const found = accepted().find((each) => each.it === it);
  if (!found) throw new Error(`the corpus has no "${it}"`);
  return found.object;
}

export function renamed(object: KubeObject, name: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, name } };
}

export const GRANTS = { n17: { id: 'g-1', fence: 1 }, n18: { id: 'g-2', fence: 1 } } as const;
const SETTLED = { state: 'Settled', settledAt: '2026-11-20T07:03:00Z', outcome: 'Succeeded' };

/** The second write of a ledger: grants for n17 and n18, and one for n19 that is settled. */
function ledger(): KubeObject {
  const { grants = {} } = (example('DefenderLedger holds a grant')['spec'] ?? {}) as {
    grants?: { n17?: object };
  };
  const granted = (grant: object) => ({ ...grants.n17, ...grant });
  const { n17, n18 } = GRANTS;
  const all = { n17: granted(n17), n18: granted(n18), n19: granted({ id: 'g-3', fence: 1, ...SETTLED }) };
  return { ...example('DefenderLedger holds a grant'), spec: { seq: 1, epoch: 1, grants: all } };
}

/** A job for that machine, with the machine's grant of the ledger, or with another one. */
export function job(machine: string, grant: Readonly<Record<string, unknown>> = {}): KubeObject {
  const object = structuredClone(example('RemedyOperationJob cleans a disk')) as unknown as {
    spec: { machine: object; grant: object };
  } & KubeObject;
  const own = machine in GRANTS ? GRANTS[machine as keyof typeof GRANTS] : {};
  object.spec.machine = { ...object.spec.machine, name: machine };
  object.spec.grant = { ...object.spec.grant, ...own, ...grant };
  return renamed(object, `${machine}-disk-pressure-7c1f02ab-r1-a1`);
}

export const resources = {
  Machine: MACHINES,
  MachineSet: MACHINE_SETS,
  MachineComponent: MACHINE_COMPONENTS,
  MachineComponentSet: MACHINE_COMPONENT_SETS,
  RemedyOperationJob: REMEDY_OPERATION_JOBS,
  NodeRemedier: NODE_REMEDIERS,
  DefenderPolicy: DEFENDER_POLICIES,
  DefenderLedger: DEFENDER_LEDGERS,
  Cluster: CLUSTERS,
  Node: core('Node', 'nodes', false),
  Pod: core('Pod', 'pods', true),
  Secret: core('Secret', 'secrets', true),
  ConfigMap: core('ConfigMap', 'configmaps', true),
  Namespace: core('Namespace', 'namespaces', false),
  Event: core('Event', 'events', true),
  Lease: { ...core('Lease', 'leases', true), group: 'coordination.k8s.io' },
  ClusterRole: { ...core('ClusterRole', 'clusterroles', false), group: 'rbac.authorization.k8s.io' },
  ClusterRoleBinding: {
    ...core('ClusterRoleBinding', 'clusterrolebindings', false),
    group: 'rbac.authorization.k8s.io',
  },
  CertificateSigningRequest: {
    ...core('CertificateSigningRequest', 'certificatesigningrequests', false),
    group: 'certificates.k8s.io',
  },
} satisfies Record<string, Resource>;

export type Known = keyof typeof resources;

function core(kind: string, plural: string, namespaced: boolean): Resource {
  return { group: '', version: 'v1', kind, plural, namespaced };
}

export type Act = (client: Client) => Promise<unknown>;

export function create(object: KubeObject): Act {
  return (client) => client.create(resources[object.kind as Known], object, { dryRun: true });
}

/** Server-side apply of these fields. */
export function apply(kind: Known, name: string, fields: object, subresource?: string): Act {
  const resource = resources[kind];
  const { group, version } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const object = { apiVersion, kind, metadata: { name }, ...fields } as KubeObject;
  const options = { fieldManager: 'test', force: true, dryRun: true };
  return (client) =>
    client.apply(resource, object, subresource === undefined ? options : { ...options, subresource });
}

export function patch(
  kind: Known,
  name: string,
  body: Readonly<Record<string, unknown>>,
  subresource?: string,
): Act {
  const options = subresource === undefined ? { dryRun: true } : { dryRun: true, subresource };
  return (client) => client.patch(resources[kind], { name }, { type: 'merge', body }, options);
}

export type Verdict = 'allowed' | 'no right' | `kubenode-${string}`;

/** What the server says to it: yes, no by its rights, or no by one of our policies. */
async function verdict(act: () => Promise<unknown>): Promise<Verdict> {
  try {
    await act();
    return 'allowed';
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const policy = /ValidatingAdmissionPolicy '(?<name>[^']+)'/.exec(error.message)?.groups?.['name'];
    if (policy !== undefined) return policy as Verdict;
    if (error.code === 'Forbidden') return 'no right';
    // Admission comes first: whoever hears this was let through.
    if (error.code === 'AlreadyExists') return 'allowed';
    throw error;
  }
}

const clock = createSystemClock();
const PATIENCE_MS = 20_000;

/**
 * What the server says in the end. It sees parameters of policies and roles through caches, a moment late, so
 * another answer than the one that is waited for is asked for again, for a while.
 */
export async function answer(client: Client, act: Act, wanted: Verdict): Promise<Verdict> {
  const end = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    const said = await verdict(() => act(client));
    if (said === wanted || clock.monotonicMs() > end) return said;
    await clock.sleep(100);
  }
}
