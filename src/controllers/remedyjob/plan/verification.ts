/** Whether the repair worked: the conditions of the rung hold for long enough, by facts and not by what a step reported. Pure. */
import type { RemedyVerify } from '../../../api/generated/types.ts';
import { type RepairWaitReason } from '../../../api/status/repair-waits.ts';
import type { Truth } from '../../../rules/compiled-rule.ts';
import type { JobInput } from '../observe/observe.ts';
import { type JobDecision, jobFinding } from './decision.ts';

const HOLDING = 'VerificationHolding';
const POLL_MS = 5000;

/** Undefined: nothing is to be verified, or it is verified. */
export function planVerification(observation: JobInput): JobDecision | undefined {
  const { job, now } = observation;
  const { verify } = job.spec;
  const { executedAt = now.toISOString(), verifiedAt } = job.status?.timeline ?? {};
  if (!verify || verifiedAt !== undefined) return undefined;
  return planWithin(observation, verify, executedAt);
}

function planWithin(observation: JobInput, verify: RemedyVerify, executedAt: string): JobDecision {
  const { now } = observation;
  const endsAt = new Date(Date.parse(executedAt) + verify.timeoutSeconds * 1000);
  const holdsAt = holdsUntil(observation, verify);
  if (holdsAt) return holdsAt <= now ? verified(verify, now) : waitForHold(verify, holdsAt, now);
  return endsAt <= now ? notVerified(observation, verify) : waitForFacts(observation, endsAt);
}

/** When the conditions will have held for long enough; undefined while they do not hold. */
function holdsUntil(
  { job, verified: truth, now }: JobInput,
  { holdSeconds }: RemedyVerify,
): Date | undefined {
  if (truth !== 'True') return undefined;
  const { waiting } = job.status ?? {};
  const since = waiting?.reason === HOLDING ? Date.parse(waiting.since) : now.getTime();
  return new Date(since + holdSeconds * 1000);
}

function verified({ holdSeconds }: RemedyVerify, now: Date): JobDecision {
  const because = `the conditions of the verification held for ${holdSeconds} s`;
  const findings = [jobFinding('Verified', 'True', 'ConditionsHold', because)];
  return { type: 'Write', because, change: { findings, timeline: { verifiedAt: now.toISOString() } } };
}

function notVerified({ verified: truth }: JobInput, { timeoutSeconds }: RemedyVerify): JobDecision {
  const message = `not verified in ${timeoutSeconds} s: ${UNVERIFIED[truth].message}`;
  const findings = [jobFinding('Verified', 'False', 'NotVerified', message)];
  const outcome = { class: 'Transient', reason: 'NotVerified', message } as const;
  return { type: 'Write', because: message, change: { findings, outcome } };
}

/** Also after the time of the verification: a controller that was away for that long has not observed a fault. */
function waitForHold({ holdSeconds }: RemedyVerify, holdsAt: Date, now: Date): JobDecision {
  const message = `the conditions hold; the repair is verified when they have held for ${holdSeconds} s`;
  return waitUntil({ reason: HOLDING, message, status: 'False' }, [holdsAt], now);
}

function waitForFacts({ verified: truth, now }: JobInput, endsAt: Date): JobDecision {
  return waitUntil(UNVERIFIED[truth], [endsAt], now);
}

interface Unverified {
  readonly reason: RepairWaitReason;
  readonly message: string;
  readonly status: 'False' | 'Unknown';
}

const CONDITIONS_FALSE: Unverified = {
  reason: 'FaultPresent',
  message: 'the conditions of the verification do not hold',
  status: 'False',
};
const UNVERIFIED: Readonly<Record<Truth, Unverified>> = {
  True: CONDITIONS_FALSE,
  False: CONDITIONS_FALSE,
  Unknown: {
    reason: 'FactsUnknown',
    message: 'facts of the verification are unknown',
    status: 'Unknown',
  },
};

function waitUntil(
  { reason, message, status }: Unverified,
  moments: readonly Date[],
  now: Date,
): JobDecision {
  const findings = [jobFinding('Verified', status, reason, message)];
  const requeueAt = new Date(Math.min(now.getTime() + POLL_MS, ...moments.map(Number)));
  return { type: 'Wait', because: message, change: { findings, wait: { reason, message } }, requeueAt };
}
