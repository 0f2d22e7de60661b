/** The commits of the fleet by stage: a row for each commit, a cell for each stage that it has reached. Pure; runs in the page. */
import type { CommitStageView, CommitView } from '../../../views/release/commit-view.ts';
import { clusterStage, type StagePlace } from '../fleet.ts';
import type { ClusterLine, ConsoleState } from '../state.ts';
import { stageColumns } from './stage-columns.ts';

export interface ReleaseRow {
  readonly key: string;
  readonly commit: string;
  /** Empty: no Pipeline assigned the commit. */
  readonly pipeline: string;
  /** The Release of the commit. Absent: none is kept. */
  readonly release?: CommitView;
  /** In the order of the stages. Undefined: the commit is not in the stage. */
  readonly cells: readonly (ReleaseCell | undefined)[];
}

export interface ReleaseCell {
  readonly state: string;
  /** How many clusters of the stage are proven with the commit: `2 of 3 clusters proven`; without a Release, `2 of 3 clusters run it`. */
  readonly clusters: string;
  readonly since?: string;
  readonly soakUntil?: string;
  /** The changes of the commit in the stage. Empty: not known. */
  readonly plan: string;
  /** Empty: there is nothing to explain. */
  readonly because: string;
}

export interface ReleaseMatrix {
  readonly stages: readonly StagePlace[];
  readonly rows: readonly ReleaseRow[];
}

type Released = Pick<ConsoleState, 'clusters' | 'commits'>;

/** A cell with several states shows the first of these. */
const SEVERITY = ['Failed', 'Unreachable', 'Held', 'Skipped', 'Paused', 'Applying', 'Soaking', 'NotStarted'];

/** Returns the Releases, the newest first, then the commits that clusters run and no Release is kept of. */
export function releaseMatrix({ clusters, commits }: Released): ReleaseMatrix {
  const lines = Object.values(clusters).toSorted((a, b) => a.order - b.order);
  const releases = Object.values(commits).toSorted((a, b) => compareNewest(a, b));
  const stages = stageColumns(releases, lines.map(clusterStage));
  const others = lines.filter((line) => isCommit(line.commit) && !hasRelease(line, releases));
  return {
    stages,
    rows: [
      ...releases.map((release) => ({
        key: release.name,
        commit: release.commit,
        pipeline: release.pipeline,
        release,
        cells: stages.map((place) => releasedCell(release, place)),
      })),
      ...[...Map.groupBy(others, rowKey)].map(([key, own]) => ({
        key,
        commit: own[0]?.commit ?? '',
        pipeline: own[0]?.pipeline ?? '',
        cells: stages.map((place) => runningCell(own, linesIn(lines, place).length, place)),
      })),
    ],
  };
}

function compareNewest(a: CommitView, b: CommitView): number {
  const [first, second] = [`${a.created} ${a.name}`, `${b.created} ${b.name}`];
  return first < second ? 1 : -1;
}

/** A cluster without a commit has a dash. */
function isCommit(commit: string): boolean {
  return commit !== '' && commit !== '-';
}

/** A cluster that no Pipeline assigns anything may run the commit of any. */
function hasRelease({ commit, pipeline }: ClusterLine, releases: readonly CommitView[]): boolean {
  return releases.some(
    (release) => release.commit === commit && (pipeline === undefined || release.pipeline === pipeline),
  );
}

function rowKey({ pipeline = '', commit }: ClusterLine): string {
  return `${pipeline} ${commit}`;
}

function linesIn(lines: readonly ClusterLine[], place: StagePlace): readonly ClusterLine[] {
  return lines.filter((line) => {
    const { pipeline, stage } = clusterStage(line);
    return pipeline === place.pipeline && stage === place.stage;
  });
}

function releasedCell(release: CommitView, { pipeline, stage }: StagePlace): ReleaseCell | undefined {
  const found = release.stages.find(({ name }) => name === stage);
  if (!found || release.pipeline !== pipeline) return undefined;
  const { state, since, soakUntil, plan, because }: CommitStageView = found;
  return {
    state,
    clusters: `${found.proven} of ${found.total} clusters proven`,
    ...(since === undefined ? {} : { since }),
    ...(soakUntil === undefined ? {} : { soakUntil }),
    plan,
    because,
  };
}

/** `running`: the clusters that run the commit, in all stages. */
function runningCell(
  running: readonly ClusterLine[],
  total: number,
  place: StagePlace,
): ReleaseCell | undefined {
  const own = linesIn(running, place);
  const [first] = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (!first) return undefined;
  const { state, because, since } = first;
  return {
    state,
    clusters: `${own.length} of ${total} clusters run it`,
    ...(since === undefined ? {} : { since }),
    plan: '',
    because,
  };
}

function rankOf({ state }: ClusterLine): number {
  return SEVERITY.indexOf(state) + 1 || SEVERITY.length + 1;
}
