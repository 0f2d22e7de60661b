/** A MachineSet that takes the hosts of a fleet from a pool, and what the hosts and the pool tell about it. */
import { expect } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { LABEL_HOST_POOL, LABEL_MACHINESET, NAMESPACE_HOSTS } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { PoolRow } from '../../../src/cli/commands/pool/rows.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import type { TestNode } from '../../support/node-kit.ts';
import { testIo } from '../../support/test-io.ts';
import { BASE_VERSIONS, type BareFleet, GREETER, greeterOn } from './bare-fleet.ts';

const SET = 'own';
export const POOL = 'rack7';

/** The pool has all hosts of the fleet, and a MachineComponentSet gives its machines their components. */
export async function declarePool(fleet: BareFleet, greeter: string): Promise<void> {
  const hosts = fleet.hosts.map((host) => host.import);
  const components = Object.entries({ ...BASE_VERSIONS, [GREETER]: `${GREETER}-${greeter}` });
  await fleet.apply(
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: POOL, namespace: NAMESPACE_HOSTS, labels: { [LABEL_HOST_POOL]: POOL } },
      data: { 'hosts.json': JSON.stringify({ hosts }) },
    },
    {
      apiVersion: API_VERSION,
      kind: 'MachineComponentSet',
      metadata: { name: SET },
      spec: {
        machineSelector: { matchLabels: { pool: SET } },
        components: components.map(([name, componentRef]) => ({ name, componentRef })),
        rollout: { batches: [1], maxUnavailable: 1, gate: { soakSeconds: 0 } },
      },
    },
  );
}

/** `timeoutSeconds`: how long the deletion of a machine may take. */
export async function declareSet(fleet: BareFleet, replicas: number, timeoutSeconds = 7200): Promise<void> {
  await fleet.apply({
    apiVersion: API_VERSION,
    kind: 'MachineSet',
    metadata: { name: SET },
    spec: {
      replicas,
      template: {
        labels: { pool: SET },
        infra: { provider: 'ssh', config: { pool: POOL } },
        deletion: { cleanup: 'Restore', timeoutSeconds },
      },
    },
  });
}

export async function machinesOf(fleet: BareFleet): Promise<readonly Machine[]> {
  return (await fleet.client.list<Machine>(MACHINES)).items;
}

export function namesOf(machines: readonly Machine[]): readonly string[] {
  return machines.map(({ metadata }) => metadata.name).toSorted(byCode);
}

/** As `kubenode pool list` prints them. */
export async function poolRowsOf(fleet: BareFleet): Promise<readonly PoolRow[]> {
  const output = await kubenodePool(fleet, 'list', POOL, '-o', 'json');
  return (JSON.parse(output) as { readonly hosts: readonly PoolRow[] }).hosts;
}

/** `kubenode pool free`: a person has cleaned the host. */
export async function freeHostOf(fleet: BareFleet, { address }: TestNode): Promise<void> {
  await kubenodePool(fleet, 'free', address);
}

async function kubenodePool(fleet: BareFleet, ...args: readonly string[]): Promise<string> {
  const io = testIo({ env: { KUBECONFIG: fleet.cluster.installed.server.kubeconfig } });
  const code = await runCommandLine(io, ['pool', ...args]);
  expect([code, io.stderr]).toEqual([0, '']);
  return io.stdout;
}

/** The nodes that `kubenode pool list` shows as free. */
export async function freeNodes(fleet: BareFleet): Promise<readonly TestNode[]> {
  const free = (await poolRowsOf(fleet)).filter(({ state }) => state === 'Free');
  return free.map(({ host }) => nodeAt(fleet, host.split(':')[0]));
}

/** The host that the provider took for the Machine. */
export function nodeOf(fleet: BareFleet, { status }: Machine): TestNode {
  return nodeAt(fleet, status?.infra?.addresses?.[0]?.address);
}

function nodeAt({ nodes }: BareFleet, address: string | undefined): TestNode {
  const found = nodes.find((node) => node.address === address);
  if (!found) throw new Error(`no host has the address ${address}`);
  return found;
}

/** The record on the host of each Machine names it, its versions run there, no host has two, and the pool lists the same. */
export async function expectOneHostEach(
  fleet: BareFleet,
  machines: readonly Machine[],
  greeter: string,
): Promise<void> {
  const nodes = machines.map((machine) => nodeOf(fleet, machine));
  expect(new Set(nodes).size).toBe(machines.length);
  for (const [index, { metadata }] of machines.entries()) {
    const node = nodes[index] as TestNode;
    expect(await recordOn(node)).toMatchObject({ machine: metadata.name, machineUid: metadata.uid });
    expect(metadata.labels?.[LABEL_MACHINESET]).toBe(SET);
    expect(await greeterOn(node)).toContain(`greeter ${greeter}`);
  }
  const taken = (await poolRowsOf(fleet)).filter(({ state }) => state === 'Claimed');
  expect(taken.map(({ machine = '' }) => machine).toSorted(byCode)).toEqual(namesOf(machines));
}

async function recordOn(node: TestNode): Promise<unknown> {
  return JSON.parse((await node.run('cat', '/var/lib/kubenode/import.json')).stdout);
}
