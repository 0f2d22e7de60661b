/** Decides when the database of etcd is made smaller. Pure. */
import type { ConditionUpdate } from '../../../../kube/objects/conditions.ts';
import { truncate } from '../../../../kube/objects/truncate.ts';
import type { EtcdSpace } from '../../drivers/driver.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { disruptive, innerReports } from '../members.ts';
import { backupRunning } from './backup.ts';
import { isEtcdServing, learningWait } from './quorum.ts';

/** Objects that are deleted meanwhile may be enough. */
const RETRY_FULL_MS = 300_000;
/** A database that grows again that fast needs its space. */
const RETRY_MS = 3_600_000;
/** A small database costs nothing, and half of it is worth the seconds in which etcd does not answer. */
const MIN_OF_QUOTA = 0.5;
const MAX_IN_USE = 0.5;
/** The hint for a person comes after it. */
const MAX_PROBLEM = 512;

/** A member that is made smaller does not answer meanwhile, so all others have to, also when etcd refuses writes. */
export function planShrink(input: HostingInput): HostingDecision | undefined {
  const { space } = input.plane;
  if (!space || !mayBeAway(input) || isEarly(space, input.now)) return undefined;
  const because = shrinkReason(space);
  if (because === undefined || !(space.isFull || isQuiet(input))) return undefined;
  return disruptive(input, { type: 'Shrink', because });
}

function mayBeAway(input: HostingInput): boolean {
  return backupRunning(input) === undefined && isEtcdServing(input) && !learningWait(input);
}

/** An act that is not urgent waits for all members and for the end of a change. */
function isQuiet(input: HostingInput): boolean {
  const areReady = innerReports(input).every(({ state }) => state === 'Ready');
  return areReady && !input.cluster.status?.hosted?.upgrade;
}

function shrinkReason({ isFull, dbBytes, inUseBytes, quotaBytes }: EtcdSpace): string | undefined {
  const sizes = `the database has ${megabytes(dbBytes)} of ${megabytes(quotaBytes)}, and ${megabytes(inUseBytes)} are in use`;
  if (isFull) return `etcd refuses writes: ${sizes}`;
  return dbBytes >= MIN_OF_QUOTA * quotaBytes && inUseBytes <= MAX_IN_USE * dbBytes ? sizes : undefined;
}

function isEarly({ attempt, isFull }: EtcdSpace, now: Date): boolean {
  if (!attempt) return false;
  const ageMs = +now - +attempt.at;
  return ageMs >= 0 && ageMs < (isFull ? RETRY_FULL_MS : RETRY_MS);
}

/** Undefined: etcd takes writes, or is not asked. */
export function etcdFull({
  plane: { space },
}: HostingInput): Omit<ConditionUpdate, 'type' | 'status'> | undefined {
  if (!space?.isFull) return undefined;
  const { problem } = space.attempt ?? {};
  const last = problem === undefined ? '' : `; the last attempt failed: ${truncate(problem, MAX_PROBLEM)}`;
  const message = `${shrinkReason(space)}; hosting removes former versions and defragments it every 5 minutes${last}; delete objects, such as Events: deletions are accepted`;
  return { reason: 'QuotaExceeded', message };
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
