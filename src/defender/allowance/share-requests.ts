/**
 * Lists what the hub should give: acts that were denied for want of a share. A denial writes nothing to the ledger, so this is what
 * the process heard. A request ends when its act is granted, or is not asked for any more.
 */
import type { Denial, GrantAsk } from '../../api/grants.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { DecidedRequest } from '../ledger/ledger.ts';

export interface ShareRequest {
  readonly requested: number;
  readonly since?: Date;
}

export interface ShareRequests {
  /** Records a decision about an ask; dry runs only tried. */
  heard(decided: Pick<DecidedRequest, 'request' | 'answer'>): void;
  of(limit: string): ShareRequest;
}

interface Heard {
  readonly since: Date;
  readonly lastMs: number;
  readonly limits: readonly string[];
}

/** Longer than the longest time between two asks for one act. */
const FORGET_MS = 300_000;
/** A request for more than this is a request for this. */
const MAX_HEARD = 512;

export function createShareRequests(clock: Pick<Clock, 'now' | 'monotonicMs'>): ShareRequests {
  const acts = new Map<string, Heard>();
  return {
    heard({ request, answer }) {
      if (request.kind !== 'ask' || request.dryRun) return;
      hear(request.ask, answer.kind === 'denial' ? answer.denial : undefined);
    },
    of(limit) {
      forgetOld();
      const found = [...acts.values()].filter(({ limits }) => limits.includes(limit));
      const [since] = found.map((each) => each.since).toSorted((a, b) => +a - +b);
      return { requested: found.length, ...optional('since', since) };
    },
  };

  function hear({ machine, action }: GrantAsk, denial: Denial | undefined): void {
    forgetOld();
    const key = `${machine}\u0000${action}`;
    const limits = limitsOf(denial);
    const since = acts.get(key)?.since ?? clock.now();
    acts.delete(key);
    if (limits.length === 0 || acts.size >= MAX_HEARD) return;
    acts.set(key, { since, lastMs: clock.monotonicMs(), limits });
  }

  function forgetOld(): void {
    const oldest = clock.monotonicMs() - FORGET_MS;
    for (const [key, { lastMs }] of acts) if (lastMs <= oldest) acts.delete(key);
  }
}

/** An act that something else denies, too, would not begin with a share: it requests for none. */
function limitsOf(denial: Denial | undefined): readonly string[] {
  if (!denial) return [];
  const causes = [denial, ...denial.also];
  const isOnlyFleet = causes.every(({ reason }) => reason === 'FleetLimit');
  return isOnlyFleet ? causes.flatMap(({ key }) => key ?? []) : [];
}
