/** A rollout over simulated agents on a real API server: when each machine was assigned, and when its agent was at its end. */
import { env } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine, MachineComponentEntry } from '../../src/api/generated/types.ts';
import { HEARTBEAT_MS } from '../../src/api/machine/heartbeat.ts';
import { NAMESPACE_AGENTS } from '../../src/api/names.ts';
import { createView } from '../../src/kube/cache/view.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { formatMicroTime, LEASES } from '../../src/kube/leader/record.ts';
import type { Log } from '../../src/kube/process/log.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';
import { SimulatedMachine } from '../../test/controllers/componentset/simulation/simulated-machine.ts';
import { createAgentReporter } from './agent-reporter.ts';

const TICK_MS = 50;
/** Of the period of heartbeats. */
const BEAT_PARTS = 100;
/** How long the update of one machine takes. */
export const UPDATE_SECONDS = Number(env['KUBENODE_BENCH_UPDATE_SECONDS'] ?? 0.2);
const clock = createSystemClock();

export interface BatchTimes {
  machines: number;
  firstAssignedMs: number;
  lastAssignedMs: number;
  /** When the last of its machines reported that it is committed. */
  settledMs: number;
}

export interface BenchFleet {
  readonly agents: ReadonlyMap<string, SimulatedMachine>;
  /** By `<componentRef> <batch>`. */
  readonly batches: ReadonlyMap<string, BatchTimes>;
  readonly heartbeats: () => number;
  readonly running: (componentRef: string) => number;
  /** How many machines run each version, and the newest batch. */
  readonly summary: () => string;
  readonly stop: () => Promise<void>;
}

export interface FleetClients {
  readonly client: Client;
  /** Heartbeats are in the way of no report, as with agents of their own. */
  readonly beats: Client;
}

export async function runAgents(
  { client, beats }: FleetClients,
  names: readonly string[],
): Promise<BenchFleet> {
  const agents = new Map(
    names.map((name) => [
      name,
      new SimulatedMachine(name, clock.now(), { activate: UPDATE_SECONDS / 2, prove: UPDATE_SECONDS / 2 }),
    ]),
  );
  const reporters = new Map(names.map((name) => [name, createAgentReporter(client, clock)]));
  const batches = new Map<string, BatchTimes>();
  // Agents that have something to do: to look at all of them again and again would be most of the load.
  const active = new Set(names);
  const stop = new AbortController();
  const view = createView<Machine>({ client, resource: MACHINES, clock, random: systemRandom, log: QUIET });
  view.store.subscribe({
    added: (machine) => read(machine),
    updated: (machine) => read(machine),
  });
  const watching = view.reflector.run(stop.signal);
  await view.reflector.synced(stop.signal);
  const beating = beatAll(beats, names, stop.signal);
  const working = work();
  return {
    agents,
    batches,
    heartbeats: () => beating.count,
    running: (ref) => [...agents.values()].filter(({ runs }) => runs === ref).length,
    summary: () => summaryOf(agents, batches),
    stop: async () => {
      stop.abort();
      await Promise.all([watching, beating.ended, working]);
    },
  };

  function read({ metadata, spec }: Machine): void {
    const agent = agents.get(metadata.name);
    const [entry] = spec.components;
    if (!agent || !entry) return;
    if (agent.entries[0]?.componentRef !== entry.componentRef) note(batchKey(entry));
    agent.entries = spec.components;
    agent.generation = metadata.generation ?? 0;
    active.add(metadata.name);
  }

  function note(key: string): void {
    const nowMs = performance.now();
    const times = batches.get(key) ?? {
      machines: 0,
      firstAssignedMs: nowMs,
      lastAssignedMs: nowMs,
      settledMs: 0,
    };
    times.machines += 1;
    times.lastAssignedMs = nowMs;
    batches.set(key, times);
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      await Promise.all([...active].map((name) => report(name)));
      await pause(TICK_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  async function report(name: string): Promise<void> {
    const agent = agents.get(name);
    const reports = reporters.get(name);
    if (!agent || !reports) return;
    agent.tick(clock.now(), () => 'Good');
    if (!IN_WORK.test(agent.state)) active.delete(name);
    const isWritten = !stop.signal.aborted && (await reports.publish(agent));
    if (isWritten) noteEnd(agent);
  }

  function noteEnd({ entries: [entry], runs }: SimulatedMachine): void {
    const times = entry && batches.get(batchKey(entry));
    if (times && runs === entry.componentRef && entry.grant) times.settledMs = performance.now();
  }
}

function summaryOf(
  agents: ReadonlyMap<string, SimulatedMachine>,
  batches: ReadonlyMap<string, unknown>,
): string {
  const counts = [...Map.groupBy(agents.values(), ({ runs }) => runs)];
  const versions = counts.map(([runs, { length }]) => `${length} run ${runs}`);
  return `${versions.toSorted().join(', ')}; last batch: ${[...batches.keys()].at(-1) ?? '-'}`;
}

const IN_WORK = /^(?:Activating|Probation) /;

function batchKey({ componentRef, assignment }: MachineComponentEntry): string {
  return `${componentRef} ${assignment?.batch}`;
}

interface Beating {
  readonly count: number;
  readonly ended: Promise<void>;
}

function beatAll(client: Client, names: readonly string[], signal: AbortSignal): Beating {
  let count = 0;
  const ended = beatOn();
  return {
    get count() {
      return count;
    },
    ended,
  };

  /** Agents that were started at different times: as many in each part of the period. */
  async function beatOn(): Promise<void> {
    const parts = Map.groupBy(names.entries(), ([index]) => index % BEAT_PARTS);
    for (let part = 0; !signal.aborted; part = (part + 1) % BEAT_PARTS) {
      const next = pause(HEARTBEAT_MS / BEAT_PARTS, undefined, { signal }).catch(() => undefined);
      await runConcurrently(parts.get(part) ?? [], async ([, name]) => {
        await beat(client, name);
        count += 1;
      });
      await next;
    }
  }
}

async function beat(client: Client, name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(clock.now()) };
  const metadata = { name, namespace: NAMESPACE_AGENTS };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  await client.apply(LEASES, lease, { fieldManager: 'bench', force: true });
}

const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => QUIET };
