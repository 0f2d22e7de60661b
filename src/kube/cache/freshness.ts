/** How far a watch can be believed. */
import type { Freshness } from './reflector.ts';

/** A quiet watch hears from the server once a minute: after two silent ones it is not believed any more. */
const STALE_MS = 150_000;

/** Why nothing may be concluded from what is seen of `what`, or nothing. */
export function staleReason({ synced, ageMs, error }: Freshness, what: string): string | undefined {
  const why = error ? `: ${error.message}` : '';
  if (!synced) return `${what} has not been listed yet${why}`;
  return ageMs > STALE_MS
    ? `nothing was heard of ${what} for ${Math.round(ageMs / 1000)} s${why}`
    : undefined;
}
