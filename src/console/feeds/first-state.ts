/** Marks a feed as not read until its first state is complete: an empty state is not yet an empty cluster. */
import type { LiveFeed } from '../../kube/cache/live-feed.ts';

export const NOT_READ_YET = 'its machines are not read yet';

export function withFirstState<Feed extends LiveFeed<unknown>>(feed: Feed): Feed {
  const handlers: (() => void)[] = [];
  let isRead = false;
  return {
    ...feed,
    staleReason: () => feed.staleReason() ?? (isRead ? undefined : NOT_READ_YET),
    subscribe(handler: () => void) {
      handlers.push(handler);
      feed.subscribe(handler);
    },
    async run(signal: AbortSignal) {
      await Promise.all([feed.run(signal), waitForState(signal)]);
    },
  };

  /** An empty state comes without any event: then the handlers would not be called. */
  async function waitForState(signal: AbortSignal): Promise<void> {
    try {
      await feed.ready(signal);
    } catch {
      // The feed was ended before it had a state.
      return;
    }
    isRead = true;
    for (const handler of handlers) handler();
  }
}
