/**
 * Whether a kubelet has to be restarted because the authorities of its cluster changed. A kubelet before 1.36 reads the CA of its kubeconfig when it
 * starts, and never again; a later one reads it by itself, which nothing shows. Pure.
 */
import type { UnitProcess } from '../../host/port.ts';
import type { Target } from '../../target/target.ts';

export interface AuthoritiesChange {
  readonly changedAt: Date;
  /** The kubelets that ran when the authorities changed. Undefined: they never changed since the host joined. */
  readonly outdated?: readonly string[];
}

export interface TrustMoment {
  readonly bootId: string;
  readonly now: Date;
}

type Running = Pick<UnitProcess, 'pid' | 'startId' | 'startedAt'>;

/** Completes the sentence that begins with the unit; undefined: it started with the CA that the host has. */
export function outdatedTrust(
  change: AuthoritiesChange | undefined,
  { identity }: Pick<Target, 'identity'>,
  running: Running | undefined,
  moment: TrustMoment,
): string | undefined {
  if (!change || !running || identity !== 'Kubelet' || !isOutdated(change, running, moment)) return undefined;
  return `started before the authorities of its cluster changed (${change.changedAt.toISOString()})`;
}

function isOutdated(
  { changedAt, outdated }: AuthoritiesChange,
  running: Running,
  moment: TrustMoment,
): boolean {
  if (running.startId === '') return true;
  if (outdated) return outdated.includes(processIdentity(moment.bootId, running));
  return !startedBetween(running, changedAt, moment.now);
}

/** A start that is not known, or that the clock dates in the future, proves nothing. */
export function startedBetween(
  { startedAt }: Pick<UnitProcess, 'startedAt'>,
  after: Date,
  now: Date,
): boolean {
  const started = Date.parse(startedAt);
  return started > after.getTime() && started <= now.getTime();
}

/** Identifies one process of all boots. No clock is part of it, because clocks are set. */
export function processIdentity(
  bootId: string,
  { pid, startId }: Pick<UnitProcess, 'pid' | 'startId'>,
): string {
  return `${bootId} ${pid} ${startId}`;
}
