/** Plans which commit status is sent to the git host next, and when. Pure. */
import type { SentCommitStatus } from '../../api/generated/types.ts';
import type { CommitStatus } from './desired-statuses.ts';

export interface SendInput {
  /** Newest first. */
  readonly desired: readonly CommitStatus[];
  /** The statuses that the host accepted, as recorded in the hub. */
  readonly recorded: readonly SentCommitStatus[];
  /** The milliseconds for which a commit that the host refused is not tried again. */
  readonly blockedForMs: ReadonlyMap<string, number>;
  readonly now: Date;
}

export interface SendPlan {
  /** The status to send now. */
  readonly next?: CommitStatus;
  /** How long until the next one is due, if none is now. */
  readonly waitMs?: number;
  /** The records of these commits: nothing is sent about others any more. */
  readonly kept: readonly SentCommitStatus[];
}

export function planSend({ desired, recorded, blockedForMs, now }: SendInput): SendPlan {
  const nowMs = now.getTime();
  const byCommit = new Map(recorded.map((sent) => [sent.commit, sent]));
  const waiting = desired.flatMap((status) => {
    const sent = byCommit.get(status.commit);
    if (sent && isSame(status, sent)) return [];
    const waitMs = Math.max(waitFor(status, sent, nowMs), blockedForMs.get(status.commit) ?? 0);
    return [{ status, waitMs }];
  });
  const due = waiting.filter(({ waitMs }) => waitMs === 0).map(({ status }) => status);
  // One that the host refused would keep all others waiting, because each failure delays the next request.
  const next = due.find(({ commit }) => !blockedForMs.has(commit)) ?? due[0];
  const commits = new Set(desired.map(({ commit }) => commit));
  const kept = recorded.filter(({ commit }) => commits.has(commit));
  if (next) return { next, kept };
  if (waiting.length === 0) return { kept };
  return { waitMs: Math.min(...waiting.map(({ waitMs }) => waitMs)), kept };
}

/** Returns the records after the host accepted a status. */
export function withSent(
  recorded: readonly SentCommitStatus[],
  { commit, state, message }: CommitStatus,
  now: Date,
): readonly SentCommitStatus[] {
  const before = recorded.find((each) => each.commit === commit)?.sent ?? 0;
  const sent = { commit, state, message, sent: before + 1, sentAt: now.toISOString() };
  return [sent, ...recorded.filter((each) => each.commit !== commit)];
}

function isSame({ state, message }: CommitStatus, sent: SentCommitStatus): boolean {
  return state === sent.state && message === sent.message;
}

/** GitHub keeps a thousand statuses of a commit. A commit whose state changes all the time slows down long before. */
const MAX_STATES = 40;

/** A new state is sent at once, progress within a state after an interval. */
function waitFor({ state }: CommitStatus, before: SentCommitStatus | undefined, nowMs: number): number {
  if (!before) return 0;
  const { sent = 0, sentAt = '' } = before;
  if (state !== before.state && sent < MAX_STATES) return 0;
  const lastMs = Date.parse(sentAt);
  // A time in the future: the clock went back since, and nothing is known of the interval.
  if (Number.isNaN(lastMs) || lastMs > nowMs) return 0;
  return Math.max(0, lastMs + intervalMs(sent) - nowMs);
}

const FIRST_MS = 2000;
const FAST = 4;
/** So that 500 clusters that are proven one after the other, within a week, take 20 calls at most (S26). */
const GROWTH = 4;
const LONGEST_MS = 24 * 3_600_000;

/** Returns how long progress waits after a number of calls. */
function intervalMs(sent: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * GROWTH ** Math.max(0, sent - FAST));
}
