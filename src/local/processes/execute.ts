/** Executes a plan: stops processes first, then starts and adopts others in the order of their dependencies. */
import type { Clock } from '../../os/clock.ts';
import { isPortFree } from '../../os/net/ports.ts';
import { stopProcess } from '../../os/process/child.ts';
import { isLocalError, LocalError } from '../errors.ts';
import type { FleetAccess } from '../pki/access.ts';
import { launchProcess } from './launch.ts';
import type { ObservedProcesses } from './observe.ts';
import type { ProcessAction } from './plan.ts';
import { type ProbeEndpoint, waitUntilReady } from './probe.ts';
import type { ProcessSpec } from './specs.ts';

export interface ProcessPlanExecution {
  readonly entries: readonly ProcessAction[];
  readonly specs: readonly ProcessSpec[];
  readonly observed: ObservedProcesses;
  readonly access: FleetAccess;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onStep: (step: string) => void;
}

/** Other programs use ports of this fleet. The caller can choose other ports and retry. */
export class PortsTakenError extends LocalError {
  readonly ports: readonly number[];

  constructor(specs: readonly ProcessSpec[]) {
    const list = specs.map(({ id, port }) => `${port} (${id})`).join(', ');
    super('PortInUse', `ports of this fleet are in use by other programs: ${list}`, {
      where: list,
      hint: 'stop these programs (find them with: ss -ltnp), then run the command again',
    });
    this.ports = specs.map(({ port }) => port);
  }
}

const STAGES = [['etcd'], ['kube-apiserver'], ['kube-controller-manager', 'kube-scheduler']] as const;

export async function executePlan(work: ProcessPlanExecution): Promise<void> {
  await stopProcesses(work, work.entries);
  await verifyPortsFree(work);
  for (const programs of STAGES) {
    const specs = work.specs.filter(({ program }) => programs.some((name) => name === program));
    await waitForAll(specs.map((spec) => startOrAdopt(work, spec)));
  }
}

export async function stopProcesses(
  work: Pick<ProcessPlanExecution, 'observed' | 'clock' | 'onStep'>,
  entries: readonly ProcessAction[],
): Promise<void> {
  const stops = entries.filter((entry) => entry.act === 'stop');
  await waitForAll(
    stops.map(async ({ id, pid, because }) => {
      const identity = work.observed.identities.get(pid);
      if (!identity) return;
      work.onStep(`stopping ${id}: ${because}`);
      await stopProcess(identity, work.clock);
    }),
  );
}

async function verifyPortsFree({ entries, specs }: ProcessPlanExecution): Promise<void> {
  const starting = specs.filter(({ id }) =>
    entries.some((entry) => entry.act === 'start' && entry.id === id),
  );
  const free = await Promise.all(starting.map(({ port, bindAddress }) => isPortFree(port, bindAddress)));
  const taken = starting.filter((_, index) => free[index] === false);
  if (taken.length > 0) throw new PortsTakenError(taken);
}

async function startOrAdopt(work: ProcessPlanExecution, spec: ProcessSpec): Promise<void> {
  const entry = work.entries.find(({ act, id }) => act !== 'stop' && id === spec.id);
  if (entry?.act === 'adopt' && (await adoptProcess(work, spec, entry.pid))) return;
  work.onStep(`starting ${spec.id}`);
  try {
    await launchProcess({
      ...work,
      command: spec.command,
      logFile: spec.logFile,
      endpoint: createEndpoint(work, spec),
    });
  } catch (error) {
    const lostPort = isLocalError(error, 'Exited') && !(await isPortFree(spec.port, spec.bindAddress));
    throw lostPort ? new PortsTakenError([spec]) : error;
  }
}

/** Returns false if the process is not ready or has exited. It is stopped then, and has to be started. */
async function adoptProcess(work: ProcessPlanExecution, spec: ProcessSpec, pid: number): Promise<boolean> {
  const identity = work.observed.identities.get(pid);
  if (!identity) return false;
  const { command, logFile } = spec;
  try {
    await waitUntilReady({ ...work, identity, command, logFile, endpoint: createEndpoint(work, spec) });
    return true;
  } catch (error) {
    if (!isLocalError(error, 'NotReady', 'Exited')) throw error;
    work.onStep(`stopping ${spec.id}: it is running but not ready`);
    await stopProcess(identity, work.clock);
    return false;
  }
}

export function createEndpoint(
  { access }: Pick<ProcessPlanExecution, 'access'>,
  { cluster, readyUrl }: ProcessSpec,
): ProbeEndpoint {
  if (cluster === undefined) return { url: readyUrl, ...access.etcd };
  const own = access.clusters.get(cluster);
  if (!own) throw new Error(`certificates of cluster ${cluster} not found`);
  return { url: readyUrl, caPem: own.authority.certPem, client: own.admin };
}

/** Waits for all, then throws all errors at once. A PortsTakenError takes precedence, because the caller can handle it. */
async function waitForAll(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failures = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  const portsTaken = failures.find((failure) => failure instanceof PortsTakenError);
  if (portsTaken) throw portsTaken;
  if (failures.length > 1) throw new AggregateError(failures, 'several processes could not be started');
  if (failures.length === 1) throw failures[0];
}
