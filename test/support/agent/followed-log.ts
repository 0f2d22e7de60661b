/** Follows a log in a test, and keeps what it delivered. */
import { onTestFinished } from 'vitest';
import type { LogSource } from '../../../src/agent/detector/sources/log-source.ts';
import { eventually } from '../eventually.ts';

export interface FollowedLog {
  /** Waits until that many lines came. All that came. */
  lines(count: number): Promise<readonly string[]>;
  position(): string | undefined;
  /** Whether the source said that it can be read. */
  wasOpened(): boolean;
  /** Resolves with the error, or with undefined after `stop`. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export function followLog(
  source: LogSource,
  options: { since?: Date; position?: string; opened?: () => void } = {},
): FollowedLog {
  const abort = new AbortController();
  const messages: string[] = [];
  let position = options.position;
  let wasOpened = false;
  const following = source.follow({
    ...options,
    since: () => options.since ?? new Date(0),
    opened: () => {
      wasOpened = true;
      options.opened?.();
    },
    signal: abort.signal,
    async deliver(batch) {
      messages.push(...batch.lines.map(({ message }) => message));
      ({ position } = batch);
    },
  });
  const ended = following.catch((error: unknown) => error);
  async function stop(): Promise<void> {
    abort.abort();
    await ended;
  }
  onTestFinished(stop);
  return {
    ended,
    stop,
    position: () => position,
    wasOpened: () => wasOpened,
    async lines(count) {
      await eventually(async () => messages.length >= count || undefined, `fewer than ${count} lines came`);
      return [...messages];
    },
  };
}
