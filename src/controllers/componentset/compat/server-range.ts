/** Compares the versions of the running API servers with the range that a component declares. Pure. */
import type { KubernetesRange } from '../../../api/generated/types.ts';
import { compareCommon, numbersOf } from './numbered-version.ts';

export interface OutsideServer {
  readonly version: string;
  readonly state: 'Older' | 'Newer' | 'Unknown';
}

/**
 * Returns the first API server outside of the range. Undefined: all are within, both ends included. An end without a patch version stands for
 * each of them, and so does a server that emulates a minor version.
 */
export function serverOutside(
  range: KubernetesRange,
  versions: readonly string[],
): OutsideServer | undefined {
  if (versions.length === 0) return { version: '(none)', state: 'Unknown' };
  for (const version of versions) {
    const state = stateOf(range, version);
    if (state !== 'Within') return { version, state };
  }
  return undefined;
}

function stateOf({ min, max }: KubernetesRange, version: string): OutsideServer['state'] | 'Within' {
  const found = numbersOf(version);
  const least = min === undefined ? [] : numbersOf(min);
  const most = max === undefined ? [] : numbersOf(max);
  if (!found || !least || !most) return 'Unknown';
  if (compareCommon(found, least) < 0) return 'Older';
  return compareCommon(found, most) > 0 ? 'Newer' : 'Within';
}

/** `1.31 to 1.34`, `1.31 or newer`, `1.34 or older`. */
export function rangeText({ min, max }: KubernetesRange): string {
  if (min === undefined) return `${max} or older`;
  return max === undefined ? `${min} or newer` : `${min} to ${max}`;
}
