/** Decides which case the fault of a node belongs to: a new one, or that of its last job. Pure. */
import { createHash } from 'node:crypto';
import type { NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import { secondsBetween, wholeSeconds } from '../../../os/dates.ts';
import { endOf, isJobAtWork, jobsOfRule } from './jobs.ts';

export interface Case {
  readonly id: string;
  /** The jobs of this case, oldest first. */
  readonly jobs: readonly RemedyOperationJob[];
}

export interface CaseInput {
  readonly remedier: NodeRemedier;
  readonly nodeUID: string;
  /** When the fault began. */
  readonly since: Date;
  /** False when its beginning was not observed: the process is new and nothing recorded it. */
  readonly isSinceKnown: boolean;
  /** The jobs of the machine by all rules. */
  readonly jobs: readonly RemedyOperationJob[];
}

/** After a restart a fault of unknown age belongs to a case that ended this long ago, beside the pauses of its rule. */
const GRACE_SECONDS = 3600;
const HEX = 8;

export function caseOf(input: CaseInput): Case {
  const { remedier, nodeUID, jobs } = input;
  const own = jobsOfRule(jobs, remedier.metadata.name, nodeUID);
  const last = own.at(-1);
  const id = last && isSameCase(last, input) ? last.spec.cause.case : caseId(input);
  return { id, jobs: own.filter(({ spec }) => spec.cause.case === id) };
}

export function caseId({
  remedier,
  nodeUID,
  since,
}: Pick<CaseInput, 'remedier' | 'nodeUID' | 'since'>): string {
  const identity = JSON.stringify([nodeUID, remedier.metadata.name, wholeSeconds(since)]);
  return createHash('sha256').update(identity).digest('hex').slice(0, HEX);
}

/** Tells whether the fault belongs to the case of the last job: it did not stay away for `clearSeconds` since then. */
function isSameCase(last: RemedyOperationJob, { remedier, since, isSinceKnown }: CaseInput): boolean {
  if (isJobAtWork(last)) return true;
  const { rule, ladder } = remedier.spec;
  const gap = secondsBetween(endOf(last), since);
  if (isSinceKnown) return gap < rule.clearSeconds;
  const pauses = ladder.map(({ retrySeconds }) => retrySeconds);
  return gap < rule.clearSeconds + Math.max(...pauses, last.spec.settle.holdSeconds) + GRACE_SECONDS;
}
