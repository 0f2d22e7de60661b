/** Shows a live state at each change, until it ends or the command is interrupted. */

import type { LiveFeed } from '../../kube/cache/live-feed.ts';
import type { Io } from '../io.ts';
import type { Display } from './display.ts';

/** Resolves with what `endOf` returned; undefined: what is watched was deleted. Rejects when it is interrupted. */
export async function followLive<State, End>(
  io: Pick<Io, 'clock' | 'signal'>,
  feed: LiveFeed<State>,
  display: Display<State>,
  endOf: (state: State) => End | undefined,
): Promise<End | undefined> {
  const stop = new AbortController();
  const running = feed.run(stop.signal);
  try {
    await feed.ready(io.signal);
    return await showChanges(io, feed, display, endOf);
  } finally {
    stop.abort();
    await running;
  }
}

/** Changes that come together are shown together. */
const SETTLE_MS = 150;

async function showChanges<State, End>(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  feed: LiveFeed<State>,
  display: Display<State>,
  endOf: (state: State) => End | undefined,
): Promise<End | undefined> {
  let change = new AbortController();
  feed.subscribe(() => change.abort());
  for (;;) {
    signal.throwIfAborted();
    change = new AbortController();
    const state = feed.current();
    if (state === undefined) return undefined;
    display.show(state, feed.staleReason());
    const end = endOf(state);
    if (end !== undefined) return end;
    const ended = AbortSignal.any([signal, change.signal]);
    await clock.sleep(display.redrawMs ?? NEVER_MS, ended).catch(() => signal.throwIfAborted());
    await clock.sleep(SETTLE_MS, signal);
  }
}

/** A day: a view without ages is written only when something changed, and a timer needs an end. */
const NEVER_MS = 86_400_000;
