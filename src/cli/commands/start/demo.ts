/** `kubenode start --demo`: the programs of a whole fleet on this machine, and what they do. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import type { Layout } from '../../../local/layout.ts';
import { readHub } from '../../hub-objects.ts';
import type { Io } from '../../io.ts';
import { readHubStatus } from '../status/status.ts';
import { changedLines, fleetLines, type ShownLines } from './fleet-lines.ts';
import { createHubReader } from './hub-reader.ts';
import { type FleetProgram, runPrograms } from './programs.ts';

/** Those of the demo, besides the hub. */
const CLUSTERS = ['test', 'pre', 'prod'];
export const DEMO_CLUSTERS = 1 + CLUSTERS.length;

const POLL_MS = 1000;
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const MAIN = fileURLToPath(new URL(`../../main.${EXTENSION}`, import.meta.url));

export interface DemoOptions {
  readonly repository: string;
  /** Of the console. */
  readonly port: number;
}

/** Until the signal of the command. */
export async function runDemo(io: Io, layout: Layout, options: DemoOptions): Promise<void> {
  const { clock, signal } = io;
  const warn = (text: string): void => io.err(`${text}\n`);
  await Promise.all([
    runPrograms(programsOf(layout, options, io.env), { clock, signal, warn }),
    showFleet(io, layout),
  ]);
}

/** Each connects to the clusters of this fleet, whatever the environment of the user names. */
function programsOf(
  layout: Layout,
  { repository, port }: DemoOptions,
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
    command: [process.execPath, ...process.execArgv, MAIN, ...args],
    env,
    logFile: join(layout.logs, `${name.replaceAll(' ', '-')}.log`),
  });
  return [
    program('sync', ['sync', '--from', repository, ...connection('hub')]),
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

/** A line for each change, so that the output also serves as a log. */
async function showFleet(io: Io, layout: Layout): Promise<void> {
  const flags = { kubeconfig: layout.kubeconfig, context: 'hub' } satisfies Partial<ConnectOptions>;
  const hub = createHubReader({
    signal: io.signal,
    connect: () => connect({ clock: io.clock, ...flags }),
    read: async (client) =>
      fleetLines(await readHubStatus(io, client, await readHub(client, io.signal), flags)),
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
