/** Runs `--metrics` of `kubenode start`: a real Prometheus beside the fleet, which scrapes every process of kubenode. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fleetHostingFolder } from '../../cli/hosting/folder.ts';
import type { Io } from '../../cli/io.ts';
import { findFleetUsers } from '../../cli/local/fleet-programs.ts';
import type { Layout } from '../../local/layout.ts';
import { listProcesses } from '../../local/processes/observe.ts';
import { stopPrometheus } from '../../local/prometheus.ts';
import { messageOf } from '../../os/errors.ts';
import { PRIVATE_MODE, toDiskError, writeFileAtomic } from '../../os/files.ts';
import { type Lock, tryAcquireLock } from '../../os/lock.ts';
import { readListeningPorts } from '../../os/net/listening.ts';
import { findNextPort } from '../../os/net/ports.ts';
import { type FleetProgram, runPrograms } from '../start/programs.ts';
import { prometheusArgs, prometheusFiles, targetFiles } from './config.ts';
import { type FleetProcess, type MetricsTarget, planTargets } from './targets.ts';

/** Where Prometheus listens by default. */
const FIRST_PORT = 9090;
/** Processes come and go within seconds; reading all of them takes milliseconds. */
const REFRESH_MS = 5000;

export interface LocalMetrics {
  /** The path of the program. */
  readonly program: string;
  readonly port: number;
  /** Keeps the port from another fleet. While it is held this process does not end. */
  readonly lock: Lock;
}

export function metricsUrl({ port }: Pick<LocalMetrics, 'port'>): string {
  return `http://127.0.0.1:${port}/`;
}

/**
 * Finds the first free port from the usual one on, and locks it: a port stays free until Prometheus listens on it,
 * and two fleets that start at once would choose the same.
 */
async function claimPort(): Promise<Pick<LocalMetrics, 'port' | 'lock'>> {
  const taken = new Set<number>();
  for (;;) {
    const port = await findNextPort(taken, '127.0.0.1', FIRST_PORT);
    const lock = await tryAcquireLock(`prometheus port ${port}`);
    if (lock) return { port, lock };
    taken.add(port);
  }
}

/** Ends what a killed command left, and writes all files that Prometheus reads. Undefined without a program. */
export async function startMetrics(
  { clock }: Pick<Io, 'clock'>,
  layout: Layout,
  program: string | undefined,
): Promise<LocalMetrics | undefined> {
  await stopPrometheus(layout.root, clock);
  if (program === undefined) return undefined;
  const files = new Map([...prometheusFiles(), ...targetFiles([])]);
  await createFolders(layout, files.keys());
  await writeFiles(layout, files);
  return { program, ...(await claimPort()) };
}

/** Runs until the signal of the command. Prometheus is started again when it ends; the fleet goes on without it. */
export async function runMetrics(
  io: Io,
  layout: Layout,
  { program, port, expected }: LocalMetrics & { readonly expected: readonly MetricsTarget[] },
): Promise<void> {
  const { clock, signal, env } = io;
  const prometheus: FleetProgram = {
    name: 'prometheus',
    command: [program, ...prometheusArgs(layout, port)],
    env,
    logFile: join(layout.logs, 'prometheus.log'),
    cwd: layout.prometheus,
  };
  const warn = (text: string): void => io.err(`${text}\n`);
  await Promise.all([
    runPrograms([prometheus], { clock, signal, warn }),
    keepTargets({ clock, signal, warn }, layout, expected),
  ]);
}

/** Writes only changes. A file that cannot be written is reported once, and tried again. */
async function keepTargets(
  { clock, signal, warn }: Pick<Io, 'clock' | 'signal'> & { readonly warn: (text: string) => void },
  layout: Layout,
  expected: readonly MetricsTarget[],
): Promise<void> {
  let written = '';
  let problem = '';
  while (!signal.aborted) {
    try {
      const files = targetFiles(planTargets(expected, await findProcesses(layout)));
      const text = JSON.stringify([...files]);
      if (text !== written) await writeFiles(layout, files);
      written = text;
      problem = '';
    } catch (error) {
      const message = messageOf(error);
      if (message !== problem) warn(`the targets of Prometheus are not updated: ${message}`);
      problem = message;
    }
    await clock.sleep(REFRESH_MS, signal).catch(() => undefined);
  }
}

/** Fails where the folder was removed: it is not created again for a fleet that was wiped. */
async function writeFiles({ prometheus }: Layout, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of files) {
    const path = join(prometheus, name);
    await writeFileAtomic(path, text, PRIVATE_MODE).catch((error: unknown) => {
      throw toDiskError(error, path);
    });
  }
}

async function createFolders({ prometheus }: Layout, files: Iterable<string>): Promise<void> {
  const folders = new Set([...files].map((name) => dirname(join(prometheus, name))));
  for (const folder of folders) {
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw toDiskError(error, folder);
    });
  }
}

/** Lists the processes of the fleet, of the control planes that its hub hosts, and the agents of their machines. */
async function findProcesses({ root }: Layout): Promise<readonly FleetProcess[]> {
  const roots = [root, fleetHostingFolder(root)];
  const users = (await Promise.all(roots.map((folder) => findFleetUsers({ root: folder })))).flat();
  const agents = (await listProcesses()).flatMap(({ pid, command }) => {
    const args = agentArgs(command, roots);
    return args === undefined ? [] : [{ pid, args }];
  });
  const found = new Map([...users, ...agents].map(({ pid, args }) => [pid, args]));
  const ports = await readListeningPorts(found.keys());
  return Array.from(found, ([pid, args]) => ({ args, listening: ports.get(pid) ?? [] }));
}

/** Returns the arguments of an agent of provider local, whose sandbox is in one of these folders. */
function agentArgs(command: readonly string[], roots: readonly string[]): readonly string[] | undefined {
  const start = command.findIndex((argument, index) => argument === 'agent' && command[index + 1] === 'run');
  const folder = command[command.indexOf('--directory') + 1] ?? '';
  return start > 0 && roots.some((root) => folder.startsWith(`${root}/`)) ? command.slice(start) : undefined;
}
