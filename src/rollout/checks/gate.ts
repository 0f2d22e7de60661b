/** The health checks of one soak: when each runs, how its results are counted, and what they come to. Pure. */
import type { Check, GateRuns } from '../../api/generated/types.ts';

/** The result of one run. Errors, timeouts and missing data are Unknown: neither passed nor failed. */
export interface CheckRun {
  readonly check: string;
  /** When the check was started. */
  readonly at: Date;
  readonly result: 'Passed' | 'Failed' | 'Unknown';
  readonly message: string;
}

export type GateResult =
  | { readonly state: 'Open' | 'Waiting' }
  | { readonly state: 'Failed' | 'Inconclusive'; readonly check: string; readonly because: string };

/** Adds runs that are newer than the last counted one. Counting the same run twice changes nothing. */
export function countRuns(
  gates: readonly GateRuns[],
  runs: readonly CheckRun[],
  checks: readonly Check[],
): readonly GateRuns[] {
  return checks.flatMap(({ name }) => {
    const own = runs.filter(({ check }) => check === name).toSorted((a, b) => +a.at - +b.at);
    const before = gates.find((gate) => gate.name === name);
    const after = own.reduce<GateRuns>(countRun, before ?? { name });
    return after.ranAt === undefined ? [] : [after];
  });
}

function countRun(gate: GateRuns, { at, result, message }: CheckRun): GateRuns {
  if (gate.ranAt !== undefined && +at <= Date.parse(gate.ranAt)) return gate;
  return {
    name: gate.name,
    ranAt: at.toISOString(),
    result,
    failures: (gate.failures ?? 0) + Number(result === 'Failed'),
    inconclusive: (gate.inconclusive ?? 0) + Number(result === 'Unknown'),
    message: message.slice(0, 256),
  };
}

/** Open: the last run of every check passed, and no check is over its limits. */
export function gateResult(gates: readonly GateRuns[], checks: readonly Check[]): GateResult {
  const pairs = checks.map((check) => ({ check, gate: gates.find(({ name }) => name === check.name) }));
  const failed = pairs.find(({ check, gate }) => (gate?.failures ?? 0) > check.failureLimit);
  if (failed) return overLimit('Failed', failed.check, failed.gate);
  const unknown = pairs.find(({ check, gate }) => (gate?.inconclusive ?? 0) > check.inconclusiveLimit);
  if (unknown) return overLimit('Inconclusive', unknown.check, unknown.gate);
  return { state: pairs.every(({ gate }) => gate?.result === 'Passed') ? 'Open' : 'Waiting' };
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
