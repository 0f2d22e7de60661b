/** Makes the rows of `kubenode history` from the commits that ran on the Clusters and the heads that were refused. Pure. */
import type { Cluster, CommitRun, Pipeline, RefusedHead } from '../../api/generated/types.ts';
import { shortCommit } from '../text/age.ts';
import { listNames } from '../text/list-names.ts';

export interface ClusterHistory {
  readonly cluster: string;
  /** Newest first. */
  readonly history: readonly CommitRun[];
}

export interface HistoryRow {
  readonly commit: string;
  readonly state: string;
  readonly clusters: string;
  readonly from: string;
  /** `now`: it runs. Undefined: it never ran. */
  readonly until?: string;
  readonly author: string;
  readonly subject: string;
  readonly note: string;
}

export function historyOf({ metadata, status }: Cluster): ClusterHistory {
  return { cluster: metadata.name, history: status?.sync?.history ?? [] };
}

/** Returns the refused heads of the Pipelines that assigned something to these clusters. */
export function refusalsFor(
  histories: readonly ClusterHistory[],
  pipelines: readonly Pipeline[],
): readonly RefusedHead[] {
  const names = new Set(histories.flatMap(({ history }) => history.map(({ pipeline }) => pipeline)));
  return pipelines
    .filter(({ metadata }) => names.has(metadata.name))
    .flatMap(({ status }) => status?.refused ?? []);
}

/** Newest first. Several clusters share a row for each commit. */
export function historyRows(
  histories: readonly ClusterHistory[],
  refused: readonly RefusedHead[],
): readonly HistoryRow[] {
  const rows = [...Map.groupBy(histories.flatMap(runsOf), rowKey).values()].map(rowOfRuns);
  return [...rows, ...refused.map(rowOfRefusal)].toSorted((a, b) => Date.parse(b.from) - Date.parse(a.from));
}

interface RunOnCluster extends CommitRun {
  readonly cluster: string;
  /** How often the commit ran on this cluster before. */
  readonly runsBefore: number;
}

function runsOf({ cluster, history }: ClusterHistory): readonly RunOnCluster[] {
  return history.map((run, index) => {
    const before = history.slice(index + 1).filter(({ commit }) => commit === run.commit);
    return { ...run, cluster, runsBefore: before.length };
  });
}

/** A commit that ran again, with other content or after another commit, has a row for each time. */
function rowKey({ commit, runsBefore }: RunOnCluster): string {
  return `${commit} ${runsBefore}`;
}

/** The state of a row with several is the first of these. */
const SEVERITY = ['Failed', 'Held', 'Paused', 'Unknown', 'Applying', 'Soaking', 'Replaced', 'Proven'];

function rowOfRuns(runs: readonly RunOnCluster[]): HistoryRow {
  const states = new Set(runs.map(shownState));
  const state = SEVERITY.find((each) => states.has(each)) ?? 'Unknown';
  const ends = runs.map(({ endedAt }) => endedAt);
  const names = (all: readonly RunOnCluster[]): string => listNames(all.map(({ cluster }) => cluster));
  return {
    commit: runs[0]?.commit ?? '',
    state,
    clusters: joinByText(runs, shownState, (group, text) =>
      states.size === 1 ? names(group) : `${names(group)} ${text}`,
    ),
    from: earliest(runs.map(({ startedAt }) => startedAt)),
    until: ends.includes(undefined) ? 'now' : latest(ends.filter((end) => end !== undefined)),
    author: firstText(runs, ({ author }) => author),
    subject: firstText(runs, ({ subject }) => subject),
    note: joinByText(runs, noteOf, (group, text) =>
      group.length === runs.length ? text : `${names(group)}: ${text}`,
    ),
  };
}

/** A commit that was replaced before it was proven or failed has no result. */
function shownState({ state, endedAt }: CommitRun): string {
  const hasResult = state === 'Proven' || state === 'Failed';
  return endedAt === undefined || hasResult ? state : 'Replaced';
}

function noteOf(run: CommitRun): string {
  const { state, message, sameContentAs, adopted, decisions = [] } = run;
  const notes = [
    shownState(run) === 'Replaced' && state !== 'Unknown' ? `replaced while ${state}` : '',
    message ?? '',
    sameContentAs === undefined ? '' : `same content as ${shortCommit(sameContentAs)}`,
    adopted ? 'found in the cluster, not assigned by this hub: commits before it may be missing' : '',
    ...decisions,
  ];
  return notes.filter((note) => note !== '').join('; ');
}

function rowOfRefusal({ commit, verdict, message = '', seenAt }: RefusedHead): HistoryRow {
  const note = ['nothing of it was applied', firstLine(message)].filter((each) => each !== '').join(': ');
  return { commit, state: verdict, clusters: '-', from: seenAt, author: '-', subject: '-', note };
}

/** One text for each group of runs with the same one; runs without a text are left out. */
function joinByText(
  runs: readonly RunOnCluster[],
  textOf: (run: CommitRun) => string,
  format: (group: readonly RunOnCluster[], text: string) => string,
): string {
  const groups = [...Map.groupBy(runs, textOf)].filter(([text]) => text !== '');
  return groups.map(([text, group]) => format(group, text)).join('; ');
}

function firstText(runs: readonly RunOnCluster[], textOf: (run: CommitRun) => string | undefined): string {
  return runs.map(textOf).find((text) => text !== undefined && text !== '') ?? '-';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function earliest(times: readonly string[]): string {
  return times.toSorted(byTime)[0] ?? '';
}

function latest(times: readonly string[]): string {
  return times.toSorted(byTime).at(-1) ?? '';
}

function byTime(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}
