/**
 * When a unit that is declared to run, and does not, is started again. It is never given up: a cause that a person removes must be
 * enough. Pure.
 */
import type { CorrectionRecord } from '../../journal/record.ts';

/** The number of tries that have no wait between them. */
const FIRST_TRIES = 3;
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;
/** A unit that did run for that long is started at once when it ends. */
const WINDOW_MS = 10 * 60_000;

export interface RunTries {
  /** The number of tries in the last ten minutes. */
  readonly tries: number;
  /** Absent when there was none. */
  readonly since?: Date;
  /** The time of the next try, which is due when it is not after `now`. */
  readonly nextAt: Date;
}

export function runTries(corrections: readonly CorrectionRecord[], unit: string, now: Date): RunTries {
  const after = new Date(now.getTime() - WINDOW_MS).toISOString();
  const tries = corrections.filter(
    ({ subject, kind, at }) => subject === unit && kind === 'Run' && at > after,
  );
  const [first, last] = [tries.at(0), tries.at(-1)];
  if (!first || !last) return { tries: 0, nextAt: now };
  const lastMs = Date.parse(last.at);
  // A clock that was set back must not keep the unit down until it has caught up.
  const nextAt = lastMs > now.getTime() ? now : new Date(lastMs + waitAfter(tries.length));
  return { tries: tries.length, since: new Date(first.at), nextAt };
}

function waitAfter(tries: number): number {
  if (tries < FIRST_TRIES) return 0;
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - FIRST_TRIES));
}

/** Completes the sentence that begins with why the unit is to be started. */
export function describeTries({ tries, since, nextAt }: RunTries): string {
  const times = tries === 1 ? 'once' : `${tries} times`;
  return `started ${times} since ${since?.toISOString() ?? 'now'}, the next try is at ${nextAt.toISOString()}`;
}
