/** Provides a live state from watches, which is kept current until the signal. */

import type { Clock } from '../../os/clock.ts';
import { systemRandom } from '../../os/system-random.ts';
import type { Client } from '../client/client.ts';
import type { Log } from '../process/log.ts';
import { createConnectionCheck, type FeedView } from './connection-check.ts';

export interface LiveFeed<State> {
  /** Returns the state; undefined: what is watched was deleted. */
  current(): State | undefined;
  /** Returns why the state may be old; undefined: it is current. */
  staleReason(): string | undefined;
  /** Registers a handler that is called at each change, also of whether the state is stale. */
  subscribe(handler: () => void): void;
  /** Runs until the signal; resolves when all watches have ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first state is complete. */
  ready(signal: AbortSignal): Promise<void>;
}

/** Holds what each view of a feed needs. */
export interface FeedParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly recovered: () => void;
}

export interface LiveSource<State> {
  readonly views: readonly FeedView[];
  current(): State | undefined;
  /** Runs beside the watches until the signal. It calls `notify` when its result changed. */
  work?(signal: AbortSignal, notify: () => void): Promise<void>;
}

export function createLiveFeed<State>(
  parts: Pick<FeedParts, 'client' | 'clock'>,
  createSource: (parts: FeedParts) => LiveSource<State>,
): LiveFeed<State> {
  const handlers: (() => void)[] = [];
  const notify = (): void => {
    for (const handler of handlers) handler();
  };
  const source = createSource({
    ...parts,
    random: systemRandom,
    log: notifyingLog(notify),
    recovered: notify,
  });
  for (const { store } of source.views) store.subscribe({ added: notify, updated: notify, removed: notify });
  const reflectors = source.views.map(({ reflector }) => reflector);
  const connection = createConnectionCheck(parts, source.views, notify);

  return {
    current: () => source.current(),
    staleReason() {
      const error = connection.error();
      return error && `retrying, with the last state that was read: ${error.message}`;
    },
    subscribe: (handler) => void handlers.push(handler),
    run: async (signal) =>
      void (await Promise.all([
        ...reflectors.map((reflector) => reflector.run(signal)),
        connection.run(signal),
        source.work?.(signal, notify),
      ])),
    ready: async (signal) =>
      void (await Promise.all(reflectors.map((reflector) => reflector.synced(signal)))),
  };
}

/**
 * Returns a log that writes nothing and notifies of each warning and error: a watch that fails is shown as stale, its log lines are not.
 */
function notifyingLog(notify: () => void): Log {
  const log: Log = { debug: silent, info: silent, warn: notify, error: notify, with: () => log };
  return log;
}

function silent(): void {}
