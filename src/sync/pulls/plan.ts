/** Plans which pull request is planned next, and when. Pure. */
import type { PlannedPullRequest } from '../../api/generated/types.ts';
import type { PullRequest } from './hosts/adapter.ts';

export interface PullChoiceInput {
  /** The open pull requests, as the host listed them. */
  readonly open: readonly PullRequest[];
  /** The plans that the host has, as recorded in the hub. */
  readonly recorded: readonly PlannedPullRequest[];
  /** The newest accepted commit. */
  readonly base: string;
  /** Whether pull requests from forks are planned. */
  readonly forks: boolean;
  /** The milliseconds for which a pull request that failed is not tried again. */
  readonly blockedForMs: ReadonlyMap<string, number>;
  readonly now: Date;
}

export interface PullChoice {
  readonly next?: PullRequest;
  /** How long until the next one is due, if none is now. */
  readonly waitMs?: number;
  /** The records of the pull requests that are open. */
  readonly kept: readonly PlannedPullRequest[];
}

/**
 * Chooses one of the team before all of forks: everybody can open those. Of these, chooses one that was never planned first, then the one
 * whose plan is the oldest: a branch that is pushed all the time delays no other.
 */
export function choosePull(input: PullChoiceInput): PullChoice {
  const { open, recorded, forks, blockedForMs } = input;
  const candidates = open.filter(({ isFork }) => forks || !isFork);
  const numbers = new Set(candidates.map(({ number }) => number));
  const kept = recorded.filter(({ number }) => numbers.has(number));
  const waiting = candidates.flatMap((pull) => {
    const before = kept.find(({ number }) => number === pull.number);
    const ownMs = waitFor(pull, before, input);
    if (ownMs === undefined) return [];
    const waitMs = Math.max(ownMs, blockedForMs.get(String(pull.number)) ?? 0);
    return [{ pull, waitMs, plannedAtMs: before ? Date.parse(before.plannedAt) : 0 }];
  });
  const [first] = waiting
    .filter(({ waitMs }) => waitMs === 0)
    .toSorted(
      (a, b) =>
        Number(a.pull.isFork) - Number(b.pull.isFork) ||
        a.plannedAtMs - b.plannedAtMs ||
        a.pull.number - b.pull.number,
    );
  if (first) return { next: first.pull, kept };
  if (waiting.length === 0) return { kept };
  return { waitMs: Math.min(...waiting.map(({ waitMs }) => waitMs)), kept };
}

/** Returns the records after the host accepted a plan. */
export function withPlanned(
  recorded: readonly PlannedPullRequest[],
  planned: PlannedPullRequest,
): readonly PlannedPullRequest[] {
  const others = recorded.filter(({ number }) => number !== planned.number);
  return [...others, planned].toSorted((a, b) => a.number - b.number);
}

/** A push is planned soon, and pushes that follow each other not one by one: a plan reads every cluster. */
const AFTER_PUSH_MS = 10_000;
/** Another base changes the plan of every open pull request, and a cluster that did not answer may do so later. */
const AFTER_BASE_MS = 600_000;

/** Undefined: its plan is up to date. */
function waitFor(
  { head }: PullRequest,
  before: PlannedPullRequest | undefined,
  { base, now }: PullChoiceInput,
): number | undefined {
  if (!before) return 0;
  const isSame = before.head === head;
  if (isSame && before.base === base && before.isPartial !== true) return undefined;
  const plannedAtMs = Date.parse(before.plannedAt);
  // A time in the future: the clock went back since, and nothing is known of the interval.
  if (Number.isNaN(plannedAtMs) || plannedAtMs > now.getTime()) return 0;
  return Math.max(0, plannedAtMs + (isSame ? AFTER_BASE_MS : AFTER_PUSH_MS) - now.getTime());
}
