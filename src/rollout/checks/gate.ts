/** The health checks of one soak: when each runs, how its results are counted, and what they come to. Pure. */
import type { Check, GateRuns } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';

/** The result of one run. Errors, timeouts and missing data are Unknown: neither passed nor failed. */
export interface CheckRun {
  readonly check: string;
  /** The digest of what was asked. */
  readonly asked: string;
  /** When the check was started. */
  readonly at: Date;
  readonly result: 'Passed' | 'Failed' | 'Unknown';
  readonly message: string;
}

/** Answers one run. */
export type CheckAnswer = Pick<CheckRun, 'result' | 'message'>;

export type GateResult =
  | { readonly state: 'Open' | 'Waiting' }
  | { readonly state: 'Failed' | 'Inconclusive'; readonly check: string; readonly because: string };

/** Identifies what a check asks. Its limits and its interval are not part of that. */
export function askedDigest({ builtin, http, promql }: Check): string {
  return digestOf({ builtin, http, promql }).slice('sha256:'.length, 'sha256:'.length + DIGEST_LENGTH);
}

const DIGEST_LENGTH = 12;

/**
 * Adds runs that are newer than the last counted one. Counting the same run twice changes nothing. A check that asks something else under its
 * name is counted from zero: what was found before proves nothing about it, and blames nothing either.
 */
export function countRuns(
  gates: readonly GateRuns[],
  runs: readonly CheckRun[],
  checks: readonly Check[],
): readonly GateRuns[] {
  return checks.flatMap((check) => {
    const { name } = check;
    const asked = askedDigest(check);
    const own = runs
      .filter((run) => run.check === name && run.asked === asked)
      .toSorted((a, b) => +a.at - +b.at);
    const before = gates.find((gate) => gate.name === name && (gate.asked ?? asked) === asked);
    if (!before && own.length === 0) return [];
    return own.reduce<GateRuns>(countRun, before ?? { name, asked });
  });
}

function countRun(gate: GateRuns, { asked, at, result, message }: CheckRun): GateRuns {
  if (gate.ranAt !== undefined && +at <= Date.parse(gate.ranAt)) return gate;
  return {
    name: gate.name,
    asked,
    ranAt: at.toISOString(),
    result,
    consecutive: gate.result === result ? (gate.consecutive ?? 1) + 1 : 1,
    failures: (gate.failures ?? 0) + Number(result === 'Failed'),
    inconclusive: (gate.inconclusive ?? 0) + Number(result === 'Unknown'),
    message: message.slice(0, 256),
  };
}

/** Open: the last runs of every check passed, as many as it asks for, and no check is over its limits. */
export function gateResult(gates: readonly GateRuns[], checks: readonly Check[]): GateResult {
  const pairs = checks.map((check) => ({ check, gate: gates.find(({ name }) => name === check.name) }));
  const failed = pairs.find(({ check, gate }) => (gate?.failures ?? 0) > check.failureLimit);
  if (failed) return overLimit('Failed', failed.check, failed.gate);
  const unknown = pairs.find(({ check, gate }) => (gate?.inconclusive ?? 0) > check.inconclusiveLimit);
  if (unknown) return overLimit('Inconclusive', unknown.check, unknown.gate);
  return { state: pairs.every(({ check, gate }) => hasPassed(check, gate)) ? 'Open' : 'Waiting' };
}

function hasPassed({ consecutiveSuccess }: Check, gate: GateRuns | undefined): boolean {
  return gate?.result === 'Passed' && (gate.consecutive ?? 1) >= consecutiveSuccess;
}

function overLimit(
  state: 'Failed' | 'Inconclusive',
  { name }: Check,
  runs: GateRuns | undefined,
): GateResult {
  return { state, check: name, because: `check ${name}: ${runs?.message ?? ''}` };
}

/** When each check has to run next. */
export function nextRuns(
  gates: readonly GateRuns[],
  checks: readonly Check[],
  now: Date,
): readonly { readonly check: string; readonly at: Date }[] {
  return checks.map(({ name, intervalSeconds }) => {
    const ranAt = gates.find((gate) => gate.name === name)?.ranAt;
    // A run in the future predates a clock that was set back. It must not silence the check, so it counts as no run.
    const last = ranAt === undefined ? undefined : Date.parse(ranAt);
    const at = last === undefined || last > +now ? now : new Date(last + intervalSeconds * 1000);
    return { check: name, at };
  });
}
