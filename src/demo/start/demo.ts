/** Runs `kubenode start --demo`: the programs of a whole fleet on this machine, and shows what they do. */

import { join } from 'node:path';
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { NAMESPACE_AGENTS } from '../../api/names.ts';
import { readHub } from '../../cli/fleet/hub-objects.ts';
import { readHubStatus } from '../../cli/fleet/hub-status.ts';
import { fleetHostingFolder } from '../../cli/hosting/folder.ts';
import type { Io } from '../../cli/io.ts';
import { OWN_PROGRAM } from '../../cli/own-program.ts';
import { type ConnectOptions, connect } from '../../kube/client/connect.ts';
import { LEASES } from '../../kube/leader/record.ts';
import type { Layout } from '../../local/layout.ts';
import { findFreePort } from '../../os/net/ports.ts';
import { type LocalMetrics, runMetrics } from '../metrics/metrics.ts';
import { createConvergence, type ReadyMachines, readyMachines } from './convergence.ts';
import { changedLines, fleetLines, type ShownLines } from './fleet-lines.ts';
import { createHubReader } from './hub-reader.ts';
import { type FleetProgram, runPrograms } from './programs.ts';
import { serveMetrics } from './serve-metrics.ts';

/** The clusters of the demo besides the hub. */
const CLUSTERS = ['test', 'pre', 'prod'];
export const DEMO_CLUSTERS = 1 + CLUSTERS.length;

const POLL_MS = 1000;

export interface DemoOptions {
  readonly repository: string;
  /** The port of the console. */
  readonly port: number;
  /** The Prometheus beside the fleet. Undefined: none. */
  readonly metrics?: LocalMetrics | undefined;
}

/** Runs the fleet and shows its changes until the signal of the command. */
export async function runDemo(io: Io, layout: Layout, options: DemoOptions): Promise<void> {
  const { clock, signal } = io;
  const warn = (text: string): void => io.err(`${text}\n`);
  const webhookPort = await findFreePort();
  const programs = programsOf(layout, { ...options, webhookPort }, io.env);
  const { metrics } = options;
  if (metrics === undefined) {
    await Promise.all([runPrograms(programs, { clock, signal, warn }), showFleet(io, layout)]);
    return;
  }
  const served = await serveMetrics(programs, metrics, webhookPort);
  await Promise.all([
    runPrograms(served.programs, { clock, signal, warn }),
    showFleet(io, layout),
    runMetrics(io, layout, { ...metrics, expected: served.expected }),
  ]);
}

/** Returns the programs of the fleet. Each connects to the clusters of this fleet, whatever the environment of the user names. */
function programsOf(
  layout: Layout,
  { repository, port, webhookPort }: DemoOptions & { readonly webhookPort: number },
  env: Io['env'],
): readonly FleetProgram[] {
  const connection = (context: string): readonly string[] => [
    '--kubeconfig',
    layout.kubeconfig,
    '--context',
    context,
  ];
  const program = (name: string, args: readonly string[]): FleetProgram => ({
    name,
    command: [process.execPath, ...process.execArgv, OWN_PROGRAM, ...args],
    env,
    logFile: logFileOf(layout, name),
  });
  return [
    program('sync', [
      'sync',
      '--from',
      repository,
      ...connection('hub'),
      '--webhook-port',
      String(webhookPort),
    ]),
    program('hosting', [
      'hosting',
      ...connection('hub'),
      '--dir',
      fleetHostingFolder(layout.root),
      '--local-machines',
    ]),
    program('console', ['console', '--port', String(port), ...connection('hub')]),
    ...CLUSTERS.map((name) =>
      program(`controllers ${name}`, [
        'controllers',
        ...connection(name),
        '--local-machines',
        name,
        '--local-dir',
        layout.root,
      ]),
    ),
  ];
}

function logFileOf(layout: Layout, name: string): string {
  return join(layout.logs, `${name.replaceAll(' ', '-')}.log`);
}

/**
 * Counts the machines that are Ready. What a machine reported before the fleet was stopped does not count: its agent must have renewed its
 * Lease since.
 */
async function countMachines(io: Io, { kubeconfig }: Layout, since: Date): Promise<ReadyMachines> {
  const counts = await Promise.all(
    CLUSTERS.map(async (context) => {
      const client = await connect({ clock: io.clock, kubeconfig, context });
      try {
        const [machines, leases] = await Promise.all([
          client.list<Machine>(MACHINES, { signal: io.signal }),
          client.list(LEASES, { namespace: NAMESPACE_AGENTS, signal: io.signal }),
        ]);
        return readyMachines(machines.items, leases.items, since);
      } finally {
        await client.close();
      }
    }),
  );
  return {
    ready: counts.reduce((sum, { ready }) => sum + ready, 0),
    total: counts.reduce((sum, { total }) => sum + total, 0),
  };
}

/** Prints a line for each change, so that the output also serves as a log. */
async function showFleet(io: Io, layout: Layout): Promise<void> {
  const flags = { kubeconfig: layout.kubeconfig, context: 'hub' } satisfies Partial<ConnectOptions>;
  const since = io.clock.now();
  const convergence = createConvergence({
    nowMs: () => io.clock.monotonicMs(),
    countMachines: () => countMachines(io, layout, since),
  });
  const hub = createHubReader({
    signal: io.signal,
    connect: () => connect({ clock: io.clock, ...flags }),
    read: async (client) => {
      const status = await readHubStatus(io, client, await readHub(client, io.signal), flags);
      const converged = await convergence.lineOf(status);
      return new Map([
        ...fleetLines(status, { logFile: logFileOf(layout, 'sync') }),
        ...(converged === undefined ? [] : [['converged', converged] as const]),
      ]);
    },
  });
  let before: ShownLines = new Map();
  try {
    while (!io.signal.aborted) {
      const after = await hub.next(before);
      const lines = changedLines(before, after);
      const time = io.clock.now().toISOString().slice(11, 19);
      io.out(lines.map((text) => `${time}${text}\n`).join(''));
      before = after;
      await io.clock.sleep(POLL_MS, io.signal).catch(() => undefined);
    }
  } finally {
    await hub.close();
  }
}
