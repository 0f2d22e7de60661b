/**
 * By what of its own spec a set is judged: a change that brings anything besides is judged by what was in force before it, too, until
 * its rollout is complete or the set is changed again. Pure.
 */

/** A part of the spec as the last reconcile observed it. */
export interface InForce {
  /** Digest of the rest of the spec. */
  readonly spec: string;
  /** Digest of the part as the spec has it. */
  readonly declared: string;
}

/** Returns the record after a reconcile that observes `now`. `merge` returns the stricter of both. */
export function recordInForce<T extends InForce>(
  before: T | undefined,
  now: T,
  merge: (before: T, now: T) => T,
): T {
  if (!before) return now;
  const isSameSpec = before.spec === now.spec;
  const isSamePart = before.declared === now.declared;
  if (isSameSpec && isSamePart) return before;
  // What changes nothing else loosens nothing that it is judged by, and what keeps the part is judged by it.
  return isSameSpec || isSamePart ? now : merge(before, now);
}
