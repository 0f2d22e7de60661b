/** Notes with whose rights clusters are read, where these are not those of the person, and where their identity is not checked. Pure. */
import type { NoteLine, RowsByKey } from '../state/state.ts';
import type { ShownAccess } from './connected-clusters.ts';
import { noteRows } from './hub-rows.ts';

interface ReadCluster {
  readonly name: string;
  readonly by?: ShownAccess;
}

/** As many as fit in one line. */
const MAX_NAMES = 5;

export function accessNotes(clusters: readonly ReadCluster[]): RowsByKey<NoteLine> {
  const bySecret = clusters.filter(({ by }) => by === 'Secret').map(({ name }) => name);
  const unchecked = clusters.filter(({ by }) => by === 'unchecked context').map(({ name }) => name);
  return noteRows(
    [],
    [
      ...(bySecret.length > 0
        ? [`${namesText(bySecret)}: read with the Secret of the hub, as the account of sync and not as you`]
        : []),
      ...(unchecked.length > 0
        ? [
            `${namesText(unchecked)}: read by the context of that name, which is not checked to lead to the Cluster of the hub: ` +
              'you may not get the namespace kube-system there',
          ]
        : []),
    ],
  );
}

function namesText(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return more > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${more} more` : names.join(', ');
}
