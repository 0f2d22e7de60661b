/** A fleet as its controllers and agents would report it, and changes of it. */
import { randomUUID } from 'node:crypto';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine } from '../../src/api/generated/types.ts';
import { crds, install } from '../../src/api/install/install.ts';
import { MANAGER_AGENT } from '../../src/api/names.ts';
import { API_VERSION } from '../../src/api/version.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { Addition } from '../../test/support/control-plane-etcd.ts';
import type { Run } from '../../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../../test/support/control-plane-server.ts';

const ZONES = ['a', 'b', 'c'];
const CURRENT = [
  { name: 'kubelet', currentRef: 'kubelet-1.36.3' },
  { name: 'containerd', currentRef: 'containerd-2.1.0' },
];

export interface FleetChange {
  readonly machine: string;
  readonly phase: string;
}

/**
 * An API server that starts with these machines. The first one is written through an API server; the others are copies of what it
 * stored, because 20,000 writes take minutes.
 */
export async function startFleetServer(run: Run, size: number): Promise<ApiServer> {
  const first = await startServer(run);
  await install(first.client, { clock: createSystemClock(), objects: crds() });
  await createMachine(first.client, machineName(0));
  const created = await first.created();
  await first.stop();
  const machine = created.find(([key]) => key.endsWith(`/${machineName(0)}`));
  if (!machine) throw new Error('the first machine was not stored');
  const others = created.filter((row) => row !== machine);
  const machines = Array.from({ length: size }, (_, index) => copyOf(machine, index));
  return await startServer(run, { preloaded: [...others, ...machines] });
}

function machineName(index: number): string {
  return `general-${String(index).padStart(5, '0')}`;
}

async function createMachine(client: Client, name: string): Promise<void> {
  const metadata = { name, labels: { pool: 'general' } };
  const spec = { infra: { provider: 'local' }, zone: ZONES[0], components: [] };
  await client.create(MACHINES, { apiVersion: API_VERSION, kind: 'Machine', metadata, spec });
  await report(client, { machine: name, phase: 'Ready' });
}

/** Objects of custom kinds are stored as JSON. */
function copyOf([key, value]: Addition[number], index: number): Addition[number] {
  const stored = JSON.parse(Buffer.from(value, 'base64').toString()) as Machine;
  const metadata = { ...stored.metadata, name: machineName(index), uid: randomUUID() };
  const copy = { ...stored, metadata, spec: { ...stored.spec, zone: ZONES[index % ZONES.length] } };
  return [
    key.replace(stored.metadata.name, metadata.name),
    Buffer.from(JSON.stringify(copy)).toString('base64'),
  ];
}

/** The machines of a rollout, one after the other: each is updated, and Ready again. */
export function* changesOf(size: number): Generator<FleetChange, never> {
  for (let index = 0; ; index = (index + 1) % size) {
    yield { machine: machineName(index), phase: 'Updating' };
    yield { machine: machineName(index), phase: 'Ready' };
  }
}

export async function report(client: Client, { machine, phase }: FleetChange): Promise<void> {
  const waiting = { reason: 'Draining', since: '2026-11-20T10:00:00Z', message: 'two pods are left' };
  const status = { conditions: [], phase, components: CURRENT, ...(phase === 'Ready' ? {} : { waiting }) };
  const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name: machine }, status };
  await client.apply(MACHINES, object, { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' });
}
