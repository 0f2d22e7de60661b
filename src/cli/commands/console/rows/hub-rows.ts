/** The rows of the hub in the console, in the words of `kubenode status`. Pure. */
import type { ClusterLine, ConsoleState, NoteLine, RowsByKey } from '../../../../console/state/state.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { shortCommit } from '../../../age.ts';
import { type HubStatus, inOneLine } from '../../status/hub-status.ts';

export type HubRows = Pick<ConsoleState, 'pipelines' | 'clusters' | 'notes'>;

/** `staleReasons`: why the machines of a cluster are not shown, or may be old. */
export function hubRows(
  { pipelines, clusters, unsynced, notes, trouble }: HubStatus,
  staleReasons: ReadonlyMap<string, string>,
): HubRows {
  return {
    pipelines: keyed(
      pipelines.map(({ name, phase, head, verdict, because, since }) => ({
        name,
        phase,
        commit: shortCommit(head),
        verdict,
        because: inOneLine(because),
        ...optional('since', since),
      })),
    ),
    clusters: keyed(
      clusters.map(({ name, stage, state, commit, synced, because, since }, order) => ({
        name,
        order,
        stage,
        state,
        commit: shortCommit(commit),
        synced,
        because: inOneLine(because),
        ...optional('since', since),
        ...optional('stale', staleReasons.get(name)),
      })),
    ),
    notes: noteRows([...unsynced, ...trouble], notes),
  };
}

/** A cluster that no hub lists. */
export function loneCluster(name: string, order: number, stale: string | undefined): ClusterLine {
  return {
    name,
    order,
    stage: '',
    state: 'Local',
    commit: '-',
    synced: '-',
    because: 'no hub lists it',
    ...optional('stale', stale),
  };
}

export function noteRows(bad: readonly string[], others: readonly string[]): RowsByKey<NoteLine> {
  const rows = [
    ...others.map((text) => ({ text: inOneLine(text), bad: false })),
    ...bad.map((text) => ({ text: inOneLine(text), bad: true })),
  ];
  return Object.fromEntries(rows.map((row) => [row.text, row]));
}

function keyed<Row extends { readonly name: string }>(rows: readonly Row[]): RowsByKey<Row> {
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}
