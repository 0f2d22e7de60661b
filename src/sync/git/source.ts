/**
 * Polls one ref. The last observed head is kept until a newer one is observed: a failed poll or a missing ref changes nothing about
 * the commit. After two intervals without a successful poll the state is stale.
 */
import { createLoop, type Loop } from '../../kube/controller/loop.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type BackoffState, backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { GitError, isGitError, isRefusal } from './errors.ts';
import { fullRef } from './repository-url.ts';
import type { GitTransport } from './transport.ts';

export interface SourceState {
  readonly head?: ObservedHead;
  /** The last successful poll. */
  readonly polledAt?: Date;
  /** The request that the last poll served, with success or not. */
  readonly polledFor?: string;
  /** The error of the last poll; absent when it succeeded. */
  readonly error?: { readonly code: string; readonly message: string; readonly since: Date };
}

export interface ObservedHead {
  readonly commit: string;
  readonly observedAt: Date;
  /** Why it cannot be fetched, whenever it is tried. The commit is then the object that the ref names. */
  readonly refused?: GitError;
}

export interface SourceOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly pollSeconds: number;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Called after every poll. Its errors are logged and do not stop polling. */
  readonly onPoll: (state: SourceState) => Promise<void> | void;
}

/** The newest request of each who may ask for a poll. */
export interface PollRequest {
  /** A person waits for `polledFor` to name it. */
  readonly person?: string;
  /** When a webhook was received. */
  readonly webhook?: string;
}

export interface GitSource {
  /** Polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls as soon as possible, once for each new request. Calls before the poll starts count as one. */
  pollNow(request: PollRequest): void;
  state(): SourceState;
}

export function createGitSource(options: SourceOptions): GitSource {
  const { clock, log, pollSeconds, random } = options;
  const ref = fullRef(options.ref);
  let state: SourceState = {};
  /** The object that the ref names: for an annotated tag this is not the commit. */
  let lastOid: string | undefined;
  let slow: SlowFetch | undefined;
  let loop: Loop | undefined;
  let requested: PollRequest = {};

  return {
    run,
    pollNow(request) {
      if (request.person === requested.person && request.webhook === requested.webhook) return;
      requested = request;
      loop?.trigger();
    },
    state: () => state,
  };

  async function run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    loop = createLoop({
      clock,
      gatherMs: 0,
      async round() {
        await poll(signal);
        if (!signal.aborted) await report();
        return jittered(pollSeconds, random()) * 1000;
      },
    });
    await aborted;
    await loop.close();
  }

  async function poll(signal: AbortSignal): Promise<void> {
    const served = optional('polledFor', requested.person);
    try {
      const head = await resolveHead(signal);
      if (head !== state.head) logHead(log, ref, head);
      state = { head, polledAt: clock.now(), ...served };
    } catch (error) {
      if (signal.aborted) return;
      if (!state.error) log.warn('poll failed', { ref, error });
      state = { ...withError(state, error, clock.now()), ...served };
    }
  }

  /** Listing refs is cheap, so we fetch only when the ref has changed. A commit that is refused is not fetched again. */
  async function resolveHead(signal: AbortSignal): Promise<ObservedHead> {
    const oid = (await options.git.listRefs(signal, ref)).get(ref);
    if (oid === undefined) throw refNotFound(ref, options.git.display);
    if (oid === lastOid && state.head) return state.head;
    const head = await fetchHead(oid, signal);
    lastOid = oid;
    return head.commit === state.head?.commit && !head.refused ? state.head : head;
  }

  async function fetchHead(oid: string, signal: AbortSignal): Promise<ObservedHead> {
    if (slow?.oid === oid && clock.monotonicMs() < slow.retry.atMs + slow.retry.delayMs) throw slow.error;
    try {
      const commit = await options.git.fetch(ref, signal);
      slow = undefined;
      return { commit, observedAt: clock.now() };
    } catch (error) {
      if (isGitError(error, 'Timeout')) slow = { oid, error, retry: retryAfter(oid) };
      if (!isRefusal(error)) throw error;
      return { commit: oid, observedAt: clock.now(), refused: error };
    }
  }

  /** Another commit is fetched at once. */
  function retryAfter(oid: string): BackoffState {
    const before = slow?.oid === oid ? slow.retry : NO_ERRORS;
    return backOffAfterError(before, { atMs: clock.monotonicMs(), random: random() }, SLOW_FETCH);
  }

  async function report(): Promise<void> {
    try {
      await options.onPoll(state);
    } catch (error) {
      log.error('processing the poll failed', { ref, error });
    }
  }
}

function logHead(log: Log, ref: string, { commit, refused }: ObservedHead): void {
  if (refused) log.warn('head refused', { ref, commit, error: refused });
  else log.info('head observed', { ref, commit });
}

/** A fetch that did not end in time. It takes minutes, and would be repeated at every poll. */
interface SlowFetch {
  readonly oid: string;
  readonly error: GitError;
  readonly retry: BackoffState;
}

const SLOW_FETCH = { firstMs: 60_000, longestMs: 900_000, stableMs: 3_600_000 };

/** Spreads the polls of hubs that were started at the same time. */
export function jittered(seconds: number, random: number): number {
  return seconds * (0.9 + 0.2 * random);
}

/** With an interval of one second, two intervals would be shorter than a slow fetch. */
const MIN_STALE_MS = 10_000;

/** Pure. True when no poll succeeded for two intervals: the known head may be outdated. */
export function isStale({ polledAt }: SourceState, pollSeconds: number, now: Date): boolean {
  if (polledAt === undefined) return true;
  return now.getTime() - polledAt.getTime() > Math.max(2 * pollSeconds * 1000, MIN_STALE_MS);
}

function withError(state: SourceState, error: unknown, now: Date): SourceState {
  const { code = 'Corrupt', message = String(error) } = error as Partial<GitError>;
  return { ...state, error: { code, message, since: state.error?.since ?? now } };
}

function refNotFound(ref: string, where: string): GitError {
  return new GitError('NotFoundRef', `the repository has no ref ${ref}`, {
    where,
    hint: 'check spec.source.ref, and that the branch was pushed; applied objects stay unchanged',
  });
}
