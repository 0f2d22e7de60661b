import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { createMachineController } from '../../../../src/controllers/machine/controller.ts';
import { machineAndPeers } from '../../../../src/controllers/machine/peers/observe.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { ago, condition, machine, node } from '../../../support/builders.ts';
import { type BedProcess, type ControllerBed, createControllerBed } from '../../../support/controller/bed.ts';
import { MACHINE_KINDS } from '../../../support/controller/machine-kinds.ts';

const PEERS = ['p-1', 'p-2', 'p-3'];
const NAMES = ['s-1', ...PEERS];
const API = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine' };

async function* noPages(): AsyncGenerator<never> {}

function hostOf(name: string): readonly KubeObject[] {
  const { status: _, metadata: __, ...rest } = machine(name, { spec: { components: [] } });
  const { status: ___, ...its } = node(name);
  return [{ ...rest, metadata: { name } }, its];
}

function lease(bed: ControllerBed, name: string): KubeObject {
  const metadata = { name, namespace: 'kubenode-agents' };
  const spec = { renewTime: bed.clock.now().toISOString() };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

function report(bed: ControllerBed, name: string, index: number): void {
  const conditions = [condition('ComponentsReady', 'True'), condition('UpToDate', 'True')];
  const infra = { addresses: [{ type: 'InternalIP', address: `10.0.0.${index + 1}` }] };
  bed.apply({ ...API, metadata: { name }, status: { conditions, components: [], infra } }, 'status');
  const ready = { conditions: [condition('Ready', 'True')] };
  bed.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status: ready }, 'status');
}

/** The agents of these machines renew their Leases for that long. */
async function beat(bed: ControllerBed, names: readonly string[], seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 10) {
    for (const name of names) bed.apply(lease(bed, name));
    await bed.advance(10_000); // oxlint-disable-line no-await-in-loop -- time passes
  }
}

async function openFleet(): Promise<{ readonly bed: ControllerBed; readonly process: BedProcess }> {
  const grants = { ask: async () => [], settle: async () => undefined, renew: async () => [] };
  const create = () => [createMachineController({ client: { pages: noPages } as never, grants })];
  const bed = createControllerBed({
    controllers: create,
    kinds: MACHINE_KINDS,
    objects: NAMES.flatMap(hostOf),
  });
  const process = await bed.start();
  for (const [index, name] of NAMES.entries()) report(bed, name, index);
  await beat(bed, NAMES, 30);
  return { bed, process };
}

const statusOf = (bed: ControllerBed, name: string): Machine['status'] =>
  bed.get<Machine>(MACHINES, name)?.status;
const requestsTo = (bed: ControllerBed, name: string): readonly string[] | undefined =>
  statusOf(bed, name)?.probeRequests?.map(({ machine: of, address, port }) => `${of} ${address}:${port}`);

describe('the probes of a silent machine', () => {
  it('R20 are asked of its peers while its agent is silent, and of none before and after', async () => {
    const { bed } = await openFleet();
    expect(NAMES.map((name) => statusOf(bed, name)?.silence)).toEqual(NAMES.map(() => undefined));

    await beat(bed, PEERS, 60);
    const { silence } = statusOf(bed, 's-1') ?? {};
    expect(silence).toMatchObject({ address: '10.0.0.1', port: 10_250, peers: PEERS });
    expect(PEERS.map((name) => requestsTo(bed, name))).toEqual(PEERS.map(() => ['s-1 10.0.0.1:10250']));
    expect(requestsTo(bed, 's-1')).toBeUndefined();
    expect(statusOf(bed, 'p-1')?.probeRequests?.[0]?.since).toBe(silence?.since);

    bed.writes();
    await beat(bed, PEERS, 120);
    expect(bed.writes()).toEqual([]);

    await beat(bed, NAMES, 20);
    expect(statusOf(bed, 's-1')?.silence).toBeUndefined();
    expect(NAMES.map((name) => requestsTo(bed, name))).toEqual(NAMES.map(() => undefined));
  });

  it('R20 are asked of a peer that returns later, although nothing of the silent machine changes', async () => {
    const { bed } = await openFleet();
    const few = PEERS.slice(0, 2);
    await beat(bed, few, 60);
    await beat(bed, PEERS, 30);
    await beat(bed, PEERS, 300);
    expect(statusOf(bed, 's-1')?.silence?.peers).toEqual(PEERS);
    expect(requestsTo(bed, 'p-3')).toEqual(['s-1 10.0.0.1:10250']);
  });

  it('R20 are still asked of the same peers after a restart of the controller', async () => {
    const { bed, process } = await openFleet();
    await beat(bed, PEERS, 60);
    const before = statusOf(bed, 's-1')?.silence;
    expect(before).toBeDefined();
    await process.stop();
    await bed.start();
    await beat(bed, PEERS, 120);
    expect(statusOf(bed, 's-1')?.silence).toEqual(before);
    expect(PEERS.map((name) => requestsTo(bed, name))).toEqual(PEERS.map(() => ['s-1 10.0.0.1:10250']));
  });
});

describe('machineAndPeers', () => {
  it('R20 reconciles the peers of a silent machine with it', () => {
    expect(machineAndPeers(machine('m-1'))).toEqual(['m-1']);
    const silence = { address: '10.0.0.1', port: 10_250, since: ago(1), peers: ['p-1', 'p-2'] };
    expect(machineAndPeers(machine('m-1', { status: { silence } }))).toEqual(['m-1', 'p-1', 'p-2']);
  });
});
