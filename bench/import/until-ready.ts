/** Creates Machines of hosts, and waits until all are Ready. The kubelet of a host is a stand-in: its Node is Ready when its agent reports. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine } from '../../src/api/generated/types.ts';
import { createView } from '../../src/kube/cache/view.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';
import { node } from '../../test/support/builders.ts';
import {
  conditionText,
  createImportedMachine,
  type HostToImport,
} from '../../test/support/imported-fleet.ts';
import { memoryLog } from '../../test/support/memory-log.ts';
import { percentile } from '../bench.ts';

const WITHIN_MS = 900_000;
const clock = createSystemClock();

export interface ImportTimes {
  /** From the Machines to the last that is Ready. */
  readonly allMs: number;
  readonly p95Ms: number;
}

export interface ImportBed {
  /** As an administrator. */
  readonly client: Client;
  readonly controllers: ChildProcess;
}

export async function importUntilReady(
  { client, controllers }: ImportBed,
  hosts: readonly HostToImport[],
): Promise<ImportTimes> {
  const created = new Map<string, number>();
  const times = new Map<string, number>();
  const registered = new Map<string, Promise<void>>();
  const stop = new AbortController();
  const parts = { client, resource: MACHINES, clock, random: systemRandom, log: memoryLog() };
  const view = createView<Machine>(parts);
  view.store.subscribe({ added: read, updated: read });
  const watching = view.reflector.run(stop.signal);
  await view.reflector.synced(stop.signal);
  const began = performance.now();
  try {
    await runConcurrently(hosts, async (host) => {
      created.set(host.name, performance.now());
      await createImportedMachine(client, host);
    });
    while (times.size < hosts.length) {
      if (controllers.exitCode !== null) throw new Error('the controllers ended');
      if (performance.now() - began > WITHIN_MS) throw new Error(lateText());
      // oxlint-disable-next-line no-await-in-loop -- the watch takes the times
      await pause(100);
    }
    await Promise.all(registered.values());
  } finally {
    stop.abort();
    await watching;
  }
  const each = [...times].map(([name, at]) => at - (created.get(name) ?? began));
  return { allMs: Math.max(...times.values(), began) - began, p95Ms: percentile(each, 0.95) };

  function read(machine: Machine): void {
    const { name } = machine.metadata;
    if (!created.has(name) || times.has(name)) return;
    const isReporting = conditionText(machine, 'AgentReady')?.startsWith('True') === true;
    if (isReporting && !registered.has(name)) registered.set(name, registerNode(client, name));
    if (conditionText(machine, 'Ready')?.startsWith('True')) times.set(name, performance.now());
  }

  function lateText(): string {
    const open = hosts.filter(({ name }) => !times.has(name)).map(({ name }) => name);
    const texts = open.slice(0, 3).map((name) => {
      const machine = view.store.get(name);
      return `${name}: ${JSON.stringify(machine?.status?.conditions)}`;
    });
    return `${times.size} of ${hosts.length} hosts were Ready within ${WITHIN_MS / 1000} s; ${texts.join('; ')}`;
  }
}

/** As a kubelet does. */
async function registerNode(client: Client, name: string): Promise<void> {
  const { status, ...object } = node(name);
  const { metadata } = await client.create(NODES, object);
  const body = { metadata: { uid: metadata.uid }, status };
  await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
}
