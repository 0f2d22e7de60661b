/** Decides the next attempt of a case: which rung of the ladder, and which try of it. Pure. */
import type { NodeRemedier, RemedyOperationJob, Rung } from '../../../api/generated/types.ts';
import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { byBegin, endOf } from './jobs.ts';

export interface Attempt {
  readonly rung: Rung;
  /** The number of the rung, from 1. */
  readonly index: number;
  readonly attempt: number;
}

/** Returns what identifies an attempt of a case: the operation of its job. */
export function operationIdOf(caseId: string, { index, attempt }: Omit<Attempt, 'rung'>): string {
  return `${caseId}-r${index}-a${attempt}`;
}

/** Returns the name of the job: the same for the same attempt, so that a second creation is refused. */
export function jobNameOf(machine: string, rule: string, operationID: string): string {
  return `${machine}-${rule}-${operationID}`;
}

export type NextAttempt = { readonly attempt: Attempt } | { readonly wait: RemedyWait };

type Class = NonNullable<NonNullable<RemedyOperationJob['status']>['outcome']>['class'];
type Next = 'Retry' | 'NextRung' | 'Person' | 'Nothing';

/** How a case continues after each outcome. A repair that was verified and did not last is tried again as one that failed. */
const AFTER: Readonly<Record<Class, Next>> = {
  Succeeded: 'Retry',
  Transient: 'Retry',
  Cancelled: 'Retry',
  Superseded: 'Retry',
  Permanent: 'NextRung',
  // What really happened is not known: only a person can find out.
  Ambiguous: 'Person',
  HandedOff: 'Nothing',
};

export interface AttemptMoments {
  /** When the conditions of the rule became true last. */
  readonly since: Date;
  readonly now: Date;
  /** Set while the fault flaps: no rung is tried again. */
  readonly flap?: 'HandOff' | 'NextRung' | undefined;
}

/** Returns the next attempt. `jobs` are those of the case, all ended. */
export function nextAttempt(
  { spec: { ladder } }: Pick<NodeRemedier, 'spec'>,
  jobs: readonly RemedyOperationJob[],
  moments: AttemptMoments,
): NextAttempt {
  const last = jobs.toSorted(byBegin).at(-1);
  if (last) return attemptAfter(last, ladder, moments);
  return attemptAt(ladder, moments.flap === 'HandOff' ? ladder.length : 1, 1);
}

function attemptAfter(
  last: RemedyOperationJob,
  ladder: readonly Rung[],
  moments: AttemptMoments,
): NextAttempt {
  const kind = last.status?.outcome?.class ?? 'Ambiguous';
  const { name } = last.metadata;
  if (kind === 'Succeeded' && moments.since <= endOf(last)) {
    const message = `job ${name} was verified, and the fault has not come back since`;
    return { wait: { reason: 'Verified', message } };
  }
  if (AFTER[kind] === 'Retry') return retryAfter(last, kind, ladder, moments);
  if (AFTER[kind] === 'Nothing') {
    return { wait: { reason: 'HandedOff', message: `job ${name} handed the case off to people` } };
  }
  return nextRungAfter(last, ladder, isForPerson(kind, moments));
}

function isForPerson(kind: Class, { flap }: AttemptMoments): boolean {
  return AFTER[kind] === 'Person' || flap === 'HandOff';
}

function nextRungAfter(
  { spec: { rung } }: RemedyOperationJob,
  ladder: readonly Rung[],
  isLast: boolean,
): NextAttempt {
  const index = rung.index + 1;
  return attemptAt(ladder, isLast ? Math.max(ladder.length, index) : index, 1);
}

function retryAfter(
  last: RemedyOperationJob,
  kind: Class,
  ladder: readonly Rung[],
  moments: AttemptMoments,
): NextAttempt {
  const { now, flap } = moments;
  const {
    rung: { index },
    attempt,
  } = last.spec;
  const rung = ladder[index - 1];
  const isLeft = rung !== undefined && attempt < rung.maxAttempts && flap === undefined;
  const until = secondsAfter(endOf(last), pauseAfter(kind, last, isLeft ? rung.retrySeconds : 0));
  if (until <= now) {
    return isLeft
      ? attemptAt(ladder, index, attempt + 1)
      : nextRungAfter(last, ladder, isForPerson(kind, moments));
  }
  const message = `job ${last.metadata.name} ended as ${kind}: the next one begins at ${until.toISOString()}`;
  return { wait: { reason: 'RetryLater', message, until } };
}

/** Returns how many seconds the next attempt waits. What a person or a guard stopped does not begin again at once. */
function pauseAfter(kind: Class, { spec }: RemedyOperationJob, retrySeconds: number): number {
  if (kind === 'Cancelled') return spec.settle.holdSeconds;
  return kind === 'Transient' || kind === 'Succeeded' ? retrySeconds : 0;
}

function attemptAt(ladder: readonly Rung[], index: number, attempt: number): NextAttempt {
  const rung = ladder[index - 1];
  return rung ? { attempt: { rung, index, attempt } } : { wait: ENDED };
}

const ENDED: RemedyWait = { reason: 'HandedOff', message: 'every rung of the ladder was tried' };
