/**
 * Whether the server can be read. A watch that was opened again is silent until something changes, up to a minute: a person
 * should not wait that long to learn that the connection is back.
 */

import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import type { KubeError, KubeErrorCode } from '../client/errors.ts';
import type { Resource } from '../objects/object.ts';
import type { View } from './view.ts';

export interface FeedView {
  readonly resource: Resource;
  readonly store: Pick<View['store'], 'subscribe'>;
  readonly reflector: View['reflector'];
}

export interface ConnectionCheck {
  /** Why the server cannot be read now. */
  error(): KubeError | undefined;
  /** Asks the server again while the connection is lost, until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

const CHECK_MS = 2000;
const LOST: ReadonlySet<KubeErrorCode> = new Set(['Unreachable', 'Timeout']);

export function createConnectionCheck(
  { client, clock }: { readonly client: Pick<Client, 'list'>; readonly clock: Pick<Clock, 'sleep'> },
  views: readonly Pick<FeedView, 'resource' | 'reflector'>[],
  notify: () => void,
): ConnectionCheck {
  /** Errors since which the server has answered. */
  const past = new WeakSet<KubeError>();
  const errorOf = ({ reflector }: Pick<FeedView, 'reflector'>): KubeError | undefined => {
    const { error } = reflector.freshness();
    return error && !past.has(error) ? error : undefined;
  };

  return {
    error: () => views.map(errorOf).find(Boolean),
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(CHECK_MS, signal).catch(() => undefined);
        for (const view of views) await check(view, signal);
      }
    },
  };

  async function check(
    { resource, reflector }: Pick<FeedView, 'resource' | 'reflector'>,
    signal: AbortSignal,
  ): Promise<void> {
    const error = errorOf({ reflector });
    if (!error || !LOST.has(error.code) || signal.aborted) return;
    try {
      await client.list(resource, { limit: 1, signal });
    } catch {
      // Still no answer: asked again after the next wait.
      return;
    }
    past.add(error);
    reflector.retryNow();
    notify();
  }
}
