/**
 * Polls one ref. What was seen last stays until something newer is seen: a server that fails, or a ref that vanishes, is no news about
 * the commit, and after two intervals without an answer the state is stale.
 */

import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { GitError } from './errors.ts';
import { fullRef } from './repository-url.ts';
import type { GitTransport } from './transport.ts';

export interface SourceState {
  readonly head?: { readonly commit: string; readonly seenAt: Date };
  /** When the server last said what the ref is. */
  readonly polledAt?: Date;
  /** Of the last poll, when it failed. */
  readonly error?: { readonly code: string; readonly message: string; readonly since: Date };
}

export interface SourceOptions {
  readonly git: GitTransport;
  readonly ref: string;
  readonly pollSeconds: number;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
  /** Called after every poll. What it throws is logged, and polling goes on. */
  readonly polled: (state: SourceState) => Promise<void> | void;
}

export interface GitSource {
  /** Polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Polls now: a webhook came. Many wakes before the poll starts are one. */
  wake(): void;
  state(): SourceState;
}

export function createGitSource(options: SourceOptions): GitSource {
  const { clock, log, pollSeconds, random } = options;
  const ref = fullRef(options.ref);
  let state: SourceState = {};
  /** What the ref names: for an annotated tag this is not the commit. */
  let seen: string | undefined;
  let asleep: AbortController | undefined;
  let woken = false;

  return { run, wake, state: () => state };

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      woken = false;
      await poll(signal);
      if (signal.aborted) return;
      await report();
      await rest(signal);
    }
  }

  function wake(): void {
    woken = true;
    asleep?.abort();
  }

  async function poll(signal: AbortSignal): Promise<void> {
    try {
      const commit = await look(signal);
      const now = clock.now();
      if (commit !== state.head?.commit) log.info('head seen', { ref, commit });
      const head = commit === state.head?.commit ? state.head : { commit, seenAt: now };
      state = { head, polledAt: now };
    } catch (error) {
      if (signal.aborted) return;
      if (!state.error) log.warn('poll failed', { ref, error });
      state = failed(state, error, clock.now());
    }
  }

  /** Listing is cheap; only news is fetched. */
  async function look(signal: AbortSignal): Promise<string> {
    const oid = (await options.git.listRefs(signal)).get(ref);
    if (oid === undefined) throw vanished(ref, options.git.display);
    if (oid === seen && state.head) return state.head.commit;
    const commit = await options.git.fetch(ref, signal);
    seen = oid;
    return commit;
  }

  async function report(): Promise<void> {
    try {
      await options.polled(state);
    } catch (error) {
      log.error('poll not taken in', { ref, error });
    }
  }

  async function rest(signal: AbortSignal): Promise<void> {
    if (woken) return;
    asleep = new AbortController();
    try {
      await clock.sleep(jittered(pollSeconds, random()) * 1000, AbortSignal.any([signal, asleep.signal]));
    } catch (error) {
      if (!signal.aborted && !asleep.signal.aborted) throw error;
    } finally {
      asleep = undefined;
    }
  }
}

/** Many hubs that started together must not ask the server in the same second for ever. */
export function jittered(seconds: number, random: number): number {
  return seconds * (0.9 + 0.2 * random);
}

/** Whoever polls each second is not blind after two: a fetch alone may take longer. */
const SHORTEST_STALE_MS = 10_000;

/** Pure. True when nobody has said for two intervals what the ref is: what we know may be old. */
export function isStale({ polledAt }: SourceState, pollSeconds: number, now: Date): boolean {
  if (polledAt === undefined) return true;
  return now.getTime() - polledAt.getTime() > Math.max(2 * pollSeconds * 1000, SHORTEST_STALE_MS);
}

function failed(state: SourceState, error: unknown, now: Date): SourceState {
  const { code = 'Corrupt', message = String(error) } = error as Partial<GitError>;
  return { ...state, error: { code, message, since: state.error?.since ?? now } };
}

function vanished(ref: string, where: string): GitError {
  return new GitError('NotFoundRef', `there is no ${ref} in this repository`, {
    where,
    hint: 'check spec.source.ref, and that the branch was pushed; what is applied stays as it is',
  });
}
