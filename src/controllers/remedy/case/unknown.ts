/** Decides when a result that stays Indeterminate is handed off to people, and in which job. Pure. */
import type { NodeRemedier, Rung } from '../../../api/generated/types.ts';
import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import { secondsAfter } from '../../../os/dates.ts';
import type { RemedyFinding } from '../findings.ts';
import type { MatchBound } from '../targets.ts';

export type UnknownResult =
  | { readonly wait: RemedyWait }
  /** The case of the hand-off begins when the result became unknown. */
  | { readonly since: Date; readonly why: string };

export interface UnknownInput {
  readonly remedier: NodeRemedier;
  readonly finding: RemedyFinding;
  readonly bound: MatchBound;
}

/** Returns what follows a result that is Indeterminate; undefined: it is known. Nothing is repaired by what is not known: people look at the machine. */
export function unknownResult(input: UnknownInput, now: Date): UnknownResult | undefined {
  const { remedier, finding } = input;
  if (finding.outcome !== 'Indeterminate') return undefined;
  const { mode, rule } = remedier.spec;
  const { action, afterSeconds } = rule.onIndeterminate;
  const { because, unknownSince = now } = finding;
  const due = secondsAfter(unknownSince, afterSeconds);
  if (action === 'Wait' || mode === 'Observe') return { wait: waitFor(because) };
  if (due > now) return { wait: { ...waitFor(because), until: due } };
  // It lists the fleet, so it is read only here.
  const { bound } = input;
  if (bound.unknown > bound.limit) return { wait: waitFor(`${because}; ${manyText(bound)}`) };
  const why = `it is not known for ${afterSeconds} s whether the machine is faulty: ${because}`;
  return { since: unknownSince, why };
}

/** As with matches: what many machines do not report is a fault of what observes them, and no job on each of them helps. */
function manyText({ unknown, targets, limit, percent }: MatchBound): string {
  return `${unknown} of ${targets} targets are unknown, and at most ${limit} may be handed off (${percent} %): check what reports the fact`;
}

function waitFor(message: string): RemedyWait {
  return { reason: 'Indeterminate', message };
}

/** Returns the rung without the steps that do more than hand off. */
export function handOffOnly({ name, plan, maxAttempts, retrySeconds }: Rung): Rung {
  const steps = plan.filter(({ step }) => step === 'HandOff');
  return { name, maxAttempts, retrySeconds, plan: steps, onVerified: [] };
}
