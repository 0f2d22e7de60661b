/** The rows of the hub in the console, in the words of `kubenode status`. Pure. */
import { INCIDENT_REASONS } from '../../api/status/incident-reasons.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { LiveHub } from '../../views/release/commits.ts';
import { incidentSentence } from '../../views/status/cluster-health.ts';
import { type ClusterRow, inOneLine } from '../../views/status/hub-status.ts';
import { shortCommit } from '../../views/text/age.ts';
import type { ClusterLine, ConsoleState, NoteLine, RowsByKey } from '../state/state.ts';

export type HubRows = Pick<ConsoleState, 'pipelines' | 'clusters' | 'commits' | 'notes'>;

/**
 * `staleReasons`: why the machines of a cluster are not shown, or may be old. `connected`: clusters whose own Defender is watched, which
 * tells what it stops earlier than the hub does.
 */
export function hubRows(
  { pipelines, clusters, commits = [], unsynced, notes, trouble }: LiveHub,
  staleReasons: ReadonlyMap<string, string>,
  connected: ReadonlySet<string> = new Set(),
): HubRows {
  const incidents = clusters.flatMap((row) => incidentNotes(row, connected.has(row.name)));
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
      clusters.map(
        ({ name, pipeline, stage, state, commit, synced, health, machines, because, since }, order) => ({
          name,
          order,
          ...optional('pipeline', pipeline),
          stage,
          state,
          commit: shortCommit(commit),
          synced,
          health,
          ...optional('machines', machines && { total: machines.total ?? 0, ready: machines.ready ?? 0 }),
          because: inOneLine(because),
          ...optional('since', since),
          ...optional('stale', staleReasons.get(name)),
        }),
      ),
    ),
    commits: keyed(commits),
    notes: {
      ...noteRows([], notes),
      ...incidentRows([...unsynced, ...incidents]),
      ...noteRows(
        trouble.filter((text) => !unsynced.includes(text)),
        [],
      ),
    },
  };
}

const OF_THE_DEFENDER: ReadonlySet<string> = new Set(
  INCIDENT_REASONS.filter((reason) => reason !== 'NoControllers'),
);

function incidentNotes({ name, incidents }: ClusterRow, isConnected: boolean): readonly string[] {
  return incidents
    .filter(({ reason }) => !isConnected || !OF_THE_DEFENDER.has(reason))
    .map((incident) => `${name}: ${incidentSentence(incident)}`);
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
    health: 'Unknown',
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

/** Notes of incidents, which the page shows as banners. */
export function incidentRows(texts: readonly string[]): RowsByKey<NoteLine> {
  const rows = Object.values(noteRows(texts, []));
  return Object.fromEntries(rows.map((row) => [row.text, { ...row, isIncident: true }]));
}

/** Returns the note of what is not read, with the reason. */
export function unreadRow(unread: string, reason: string): RowsByKey<NoteLine> {
  const [row] = Object.values(noteRows([`${unread}: ${reason}`], []));
  return row ? { [row.text]: { ...row, unread } } : {};
}

function keyed<Row extends { readonly name: string }>(rows: readonly Row[]): RowsByKey<Row> {
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}
