/** The health checks of a stage over one soak: when they run, and what their runs mean. Pure. */
import type { Check, GateRuns } from '../api/generated/types.ts';

/** What one run of one check said. Error, timeout and no data are Unknown: never a pass, and never a failure. */
export interface CheckRun {
  readonly check: string;
  readonly at: Date;
  readonly result: 'Passed' | 'Failed' | 'Unknown';
  readonly message: string;
}

export type GateVerdict =
  | { readonly gate: 'Open' | 'Waiting' }
  | { readonly gate: 'Failed' | 'Unanswered'; readonly check: string; readonly because: string };

/** Counts runs that are newer than what is counted already, so that the same run twice counts once. */
export function countRuns(
  gates: readonly GateRuns[],
  runs: readonly CheckRun[],
  checks: readonly Check[],
): readonly GateRuns[] {
  const counted = checks.flatMap(({ name }) => {
    const mine = runs.filter(({ check }) => check === name).toSorted((a, b) => +a.at - +b.at);
    const before = gates.find((gate) => gate.name === name);
    const after = mine.reduce<GateRuns>(countRun, before ?? { name });
    return after.ranAt === undefined ? [] : [after];
  });
  return counted;
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

/** Open: every check has passed at its last run, and none too often not before. */
export function judgeGates(gates: readonly GateRuns[], checks: readonly Check[]): GateVerdict {
  const pairs = checks.map((check) => ({ check, gate: gates.find(({ name }) => name === check.name) }));
  const failed = pairs.find(({ check, gate }) => (gate?.failures ?? 0) > check.failureLimit);
  if (failed) return verdict('Failed', failed.check, failed.gate);
  const unanswered = pairs.find(({ check, gate }) => (gate?.inconclusive ?? 0) > check.inconclusiveLimit);
  if (unanswered) return verdict('Unanswered', unanswered.check, unanswered.gate);
  return { gate: pairs.every(({ gate }) => gate?.result === 'Passed') ? 'Open' : 'Waiting' };
}

function verdict(gate: 'Failed' | 'Unanswered', { name }: Check, runs: GateRuns | undefined): GateVerdict {
  return { gate, check: name, because: `check ${name}: ${runs?.message ?? ''}` };
}

/** The moment at which each check has to run next. */
export function nextRuns(
  gates: readonly GateRuns[],
  checks: readonly Check[],
  now: Date,
): readonly { readonly check: string; readonly at: Date }[] {
  return checks.map(({ name, intervalSeconds }) => {
    const ranAt = gates.find((gate) => gate.name === name)?.ranAt;
    // A clock that was set back must not silence a check: a run in the future counts as none.
    const last = ranAt === undefined ? undefined : Date.parse(ranAt);
    const at = last === undefined || last > +now ? now : new Date(last + intervalSeconds * 1000);
    return { check: name, at };
  });
}
