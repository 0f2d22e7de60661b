/** How far a view can be believed. */
import type { Freshness } from './reflector.ts';

/** In good order bookmarks come about once a minute: after two that are missing, nothing is concluded from a view. */
export const MAX_VIEW_AGE_MS = 150_000;

/** Why nothing may be concluded from the view of `what`; undefined when something may. */
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
