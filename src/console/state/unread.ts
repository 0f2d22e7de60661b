/** Decides which parts of the fleet are not read now, so that nothing is stated of the whole fleet. Pure; runs in the page. */
import { listNames } from '../../views/text/list-names.ts';
import type { ConsoleState } from './state.ts';

/** A cluster, or the hub, of which the last state is shown, or none. */
export interface UnreadPart {
  readonly name: string;
  readonly reason: string;
}

export function unreadParts({
  clusters,
  notes,
}: Pick<ConsoleState, 'clusters' | 'notes'>): readonly UnreadPart[] {
  return [
    ...Object.values(clusters)
      .toSorted((a, b) => a.order - b.order)
      .flatMap(({ name, stale }) => (stale === undefined ? [] : [{ name, reason: stale }])),
    ...Object.values(notes).flatMap(({ text, unread }) =>
      unread === undefined ? [] : [{ name: unread, reason: text.slice(`${unread}: `.length) }],
    ),
  ];
}

/** Names all parts with the same reason once: `eu-1 and eu-2 (connection refused)`. */
export function unreadPartsText(unread: readonly UnreadPart[]): string {
  return [...Map.groupBy(unread, ({ reason }) => reason)]
    .map(([reason, parts]) => `${listNames(parts.map(({ name }) => name))} (${reason})`)
    .join('; ');
}

/** Returns the parts that matter where only one cluster is shown. */
export function unreadOf(unread: readonly UnreadPart[], cluster: string | undefined): readonly UnreadPart[] {
  return cluster === undefined ? unread : unread.filter(({ name }) => name === cluster);
}

/** Returns a sentence about what does not exist, limited to what is read: `No repairs in the clusters that are read.` */
export function absenceText(absence: string, unread: readonly UnreadPart[]): string {
  return unread.length === 0 ? `${absence}.` : `${absence} in the clusters that are read.`;
}

/** Without its hub, it is not known which clusters a fleet has. */
export function noClustersText(unread: readonly UnreadPart[]): string {
  return unread.length === 0 ? 'No clusters yet.' : 'No clusters are shown: the hub is not read.';
}
