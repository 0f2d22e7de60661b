/** Whether the cached objects of a kind are recent enough to act on. */
import type { Freshness } from './reflector.ts';

/** Bookmarks arrive about once a minute: a view is stale when two of them are missing. */
export const MAX_VIEW_AGE_MS = 150_000;

/** Why the cached objects of `what` must not be used; undefined when they are fresh. */
export function staleReason(
  { synced, ageMs, error }: Freshness,
  what: string,
  maxAgeMs = MAX_VIEW_AGE_MS,
): string | undefined {
  const why = error ? `: ${error.message}` : '';
  if (!synced) return `${what}: initial list not complete${why}`;
  return ageMs > maxAgeMs
    ? `${what}: no contact with the API server for ${Math.round(ageMs / 1000)} s${why}`
    : undefined;
}
