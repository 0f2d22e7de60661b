/** An API server with an installation and some objects: Machines n17 and n18 with Nodes and jobs, a ledger, and objects of git. */
import {
  AGENT_GROUP,
  agentUser,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { accepted } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import { create, finalDecision } from './attempts.ts';
import { type InstalledServer, startInstalledServer } from './installed-server.ts';
import { resources } from './resources.ts';

export interface SampleCluster extends InstalledServer {
  readonly admin: Client;
  agent(machine: string): Promise<Client>;
  account(principal: string): Promise<Client>;
  /** A person in the group with the name of a role. */
  person(role: string): Promise<Client>;
}

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

export async function startSampleCluster(): Promise<SampleCluster> {
  const installed = await startInstalledServer();
  const sample: SampleCluster = {
    ...installed,
    admin: installed.server.client,
    agent: (machine) => installed.as(agentUser(machine), [AGENT_GROUP]),
    account: (principal) => installed.as(serviceAccountUser(principal), ACCOUNTS),
    person: (role) => installed.as(`anna-${role}`, [role]),
  };
  try {
    await populate(sample);
    await sample.server.keep();
    return sample;
  } catch (error) {
    await sample.stop();
    throw error;
  }
}

async function populate(sample: SampleCluster): Promise<void> {
  const { admin } = sample;
  const sync = await sample.account(PRINCIPAL_SYNC);
  const defender = await sample.account(PRINCIPAL_DEFENDER);
  const remedy = await sample.account(PRINCIPAL_REMEDY);
  for (const name of ['n17', 'n18']) {
    await admin.create(resources.Node, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { pool: 'a' } },
    });
    await writeCase(admin, {
      it: '',
      kind: 'Machine',
      object: renamed(example('Machine reports what its agent observes'), name),
    });
  }
  const { metadata } = await defender.get(resources.DefenderLedger, { name: 'default' });
  await defender.replace(resources.DefenderLedger, { ...ledger(), metadata });
  await finalDecision(remedy, create(job('n17')), 'allowed');
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
