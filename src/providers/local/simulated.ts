/** Runs an agent for each simulated instance, from its creation to its end. One process does this for all of a folder. */
import type { Clock } from '../../os/clock.ts';
import { fileExists } from '../../os/files.ts';
import { type InstanceFolder, instanceFolder, listUids } from './folders.ts';
import { readRecord } from './record.ts';

export interface SimulatedInstances {
  readonly machines: string;
  readonly clock: Clock;
  /** Runs the agent of this machine until the signal; never rejects. */
  readonly run: (machine: string, signal: AbortSignal) => Promise<void>;
  readonly everyMs?: number;
}

interface SimulatedRun {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const EVERY_MS = 500;
/** As machines of a fleet start: not all at once. */
const START_MS = 20;

export async function runSimulatedInstances(options: SimulatedInstances, signal: AbortSignal): Promise<void> {
  const { machines, clock, run, everyMs = EVERY_MS } = options;
  const running = new Map<string, SimulatedRun>();
  const names = new Map<string, string | undefined>();
  while (!signal.aborted) {
    const desired = await listDesired(machines, names);
    const obsolete = [...running].filter(([uid]) => !desired.has(uid));
    await Promise.all(obsolete.map(([, each]) => end(each)));
    for (const [uid] of obsolete) running.delete(uid);
    for (const [uid, machine] of desired) {
      if (signal.aborted || running.has(uid)) continue;
      const stop = new AbortController();
      running.set(uid, { stop, ended: run(machine, stop.signal) });
      await clock.sleep(START_MS, signal).catch(() => undefined);
    }
    await clock.sleep(everyMs, signal).catch(() => undefined);
  }
  await Promise.all([...running.values()].map(end));
}

/** Names of machines by UID. Each record is read once: it never changes. */
async function listDesired(
  machines: string,
  names: Map<string, string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const desired = new Map<string, string>();
  for (const uid of await listUids(machines)) {
    const folder = instanceFolder(machines, uid);
    if (!names.has(uid)) names.set(uid, await simulatedMachine(folder));
    const machine = names.get(uid);
    if (machine !== undefined && !(await fileExists(folder.offFile))) desired.set(uid, machine);
  }
  return desired;
}

async function simulatedMachine(folder: InstanceFolder): Promise<string | undefined> {
  const record = await readRecord(folder).catch(() => undefined);
  return record?.type === 'simulated' ? record.machine : undefined;
}

async function end({ stop, ended }: SimulatedRun): Promise<void> {
  stop.abort();
  await ended;
}
