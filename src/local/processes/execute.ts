/** Carries a plan out: stops what has to go, then starts and adopts, each kind of process after those it needs. */
import type { Clock } from '../../os/clock.ts';
import { isPortFree } from '../../os/ports.ts';
import { stopProcess } from '../../os/process.ts';
import { isLocalError, LocalError } from '../errors.ts';
import type { FleetAccess } from '../pki/access.ts';
import { launch } from './launch.ts';
import type { Observed } from './observe.ts';
import type { Entry } from './plan.ts';
import { type Endpoint, waitUntilReady } from './probe.ts';
import type { ProcessSpec } from './specs.ts';

export interface Work {
  readonly entries: readonly Entry[];
  readonly specs: readonly ProcessSpec[];
  readonly observed: Observed;
  readonly access: FleetAccess;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly tell: (step: string) => void;
}

/** Somebody else listens where one of ours should. The caller may look for other ports and try again. */
export class PortsTaken extends LocalError {
  readonly ports: readonly number[];

  constructor(specs: readonly ProcessSpec[]) {
    const list = specs.map(({ id, port }) => `${port} (${id})`).join(', ');
    super('PortInUse', `other programs listen on ports of this fleet: ${list}`, {
      where: list,
      hint: 'end them (ss -ltnp names them), then repeat the command',
    });
    this.ports = specs.map(({ port }) => port);
  }
}

const STAGES = [['etcd'], ['kube-apiserver'], ['kube-controller-manager', 'kube-scheduler']] as const;

export async function carryOut(work: Work): Promise<void> {
  await stopSome(work, work.entries);
  await refuseTakenPorts(work);
  for (const programs of STAGES) {
    const specs = work.specs.filter(({ program }) => programs.some((name) => name === program));
    await together(specs.map((spec) => bringToReady(work, spec)));
  }
}

export async function stopSome(
  work: Pick<Work, 'observed' | 'clock' | 'tell'>,
  entries: readonly Entry[],
): Promise<void> {
  const stops = entries.filter((entry) => entry.act === 'stop');
  await together(
    stops.map(async ({ id, pid, because }) => {
      const identity = work.observed.identities.get(pid);
      if (!identity) return;
      work.tell(`stopping ${id}: ${because}`);
      await stopProcess(identity, work.clock);
    }),
  );
}

async function refuseTakenPorts({ entries, specs }: Work): Promise<void> {
  const starting = specs.filter(({ id }) =>
    entries.some((entry) => entry.act === 'start' && entry.id === id),
  );
  const free = await Promise.all(starting.map(({ port, bindAddress }) => isPortFree(port, bindAddress)));
  const taken = starting.filter((_, index) => free[index] === false);
  if (taken.length > 0) throw new PortsTaken(taken);
}

async function bringToReady(work: Work, spec: ProcessSpec): Promise<void> {
  const entry = work.entries.find(({ act, id }) => act !== 'stop' && id === spec.id);
  if (entry?.act === 'adopt' && (await adopt(work, spec, entry.pid))) return;
  work.tell(`starting ${spec.id}`);
  try {
    await launch({ ...work, command: spec.command, logFile: spec.logFile, endpoint: endpointOf(work, spec) });
  } catch (error) {
    const lostItsPort = isLocalError(error, 'Exited') && !(await isPortFree(spec.port, spec.bindAddress));
    throw lostItsPort ? new PortsTaken([spec]) : error;
  }
}

/** False when it hangs or ended meanwhile: it is gone then, and has to be started. */
async function adopt(work: Work, spec: ProcessSpec, pid: number): Promise<boolean> {
  const identity = work.observed.identities.get(pid);
  if (!identity) return false;
  const { command, logFile } = spec;
  try {
    await waitUntilReady({ ...work, identity, command, logFile, endpoint: endpointOf(work, spec) });
    return true;
  } catch (error) {
    if (!isLocalError(error, 'NotReady', 'Exited')) throw error;
    work.tell(`stopping ${spec.id}: it runs, and does not answer`);
    await stopProcess(identity, work.clock);
    return false;
  }
}

export function endpointOf({ access }: Pick<Work, 'access'>, { cluster, readyUrl }: ProcessSpec): Endpoint {
  if (cluster === undefined) return { url: readyUrl, ...access.etcd };
  const own = access.clusters.get(cluster);
  if (!own) throw new Error(`no certificates for cluster ${cluster}`);
  return { url: readyUrl, caPem: own.authority.certPem, client: own.admin };
}

/** All get their chance; then all that went wrong is told at once. A lost port goes first: it can be mended here. */
async function together(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failures = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  const lost = failures.find((failure) => failure instanceof PortsTaken);
  if (lost) throw lost;
  if (failures.length > 1) throw new AggregateError(failures, 'several processes did not come up');
  if (failures.length === 1) throw failures[0];
}
