/** The commits of the fleet by stage: a row for each commit, a cell for each stage that it has reached. Pure; runs in the page. */
import type { CommitStageView, CommitView } from '../../../views/release/commit-view.ts';
import { NO_STAGE } from '../fleet.ts';
import type { ClusterLine, ConsoleState } from '../state.ts';

export interface ReleaseRow {
  readonly key: string;
  readonly commit: string;
  /** The Release of the commit. Absent: none is kept. */
  readonly release?: CommitView;
  /** In the order of the stages. Undefined: the commit is not in the stage. */
  readonly cells: readonly (ReleaseCell | undefined)[];
}

export interface ReleaseCell {
  readonly state: string;
  /** How many clusters of the stage are proven with the commit, or run it: `2 of 3 clusters`. */
  readonly clusters: string;
  readonly since?: string;
  readonly soakUntil?: string;
  /** The changes of the commit in the stage. Empty: not known. */
  readonly plan: string;
  /** Empty: there is nothing to explain. */
  readonly because: string;
}

export interface ReleaseMatrix {
  readonly stages: readonly string[];
  readonly rows: readonly ReleaseRow[];
}

type Released = Pick<ConsoleState, 'clusters' | 'commits'>;

/** A cell with several states shows the first of these. */
const SEVERITY = ['Failed', 'Unreachable', 'Held', 'Skipped', 'Paused', 'Applying', 'Soaking', 'NotStarted'];

/** Returns the Releases, the newest first, then the commits that clusters run and no Release is kept of. */
export function releaseMatrix({ clusters, commits }: Released): ReleaseMatrix {
  const lines = Object.values(clusters).toSorted((a, b) => a.order - b.order);
  const byStage = Map.groupBy(lines, ({ stage }) => stage || NO_STAGE);
  const releases = Object.values(commits).toSorted((a, b) => compareNewest(a, b));
  const stages = [
    ...new Set([...byStage.keys(), ...releases.flatMap((release) => release.stages.map(({ name }) => name))]),
  ];
  const known = new Set(releases.map(({ commit }) => commit));
  const others = new Set(
    lines.map(({ commit }) => commit).filter((each) => isCommit(each) && !known.has(each)),
  );
  return {
    stages,
    rows: [
      ...releases.map((release) => ({
        key: release.name,
        commit: release.commit,
        release,
        cells: stages.map((stage) => releasedCell(release, stage)),
      })),
      ...[...others].map((commit) => ({
        key: commit,
        commit,
        cells: stages.map((stage) => runningCell(byStage.get(stage) ?? [], commit)),
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

function releasedCell({ stages }: CommitView, name: string): ReleaseCell | undefined {
  const found = stages.find((stage) => stage.name === name);
  if (!found) return undefined;
  const { state, since, soakUntil, plan, because }: CommitStageView = found;
  return {
    state,
    clusters: `${found.proven} of ${found.total} clusters`,
    ...(since === undefined ? {} : { since }),
    ...(soakUntil === undefined ? {} : { soakUntil }),
    plan,
    because,
  };
}

function runningCell(stage: readonly ClusterLine[], commit: string): ReleaseCell | undefined {
  const own = stage.filter((line) => line.commit === commit);
  const [first] = own.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (!first) return undefined;
  const { state, because, since } = first;
  return {
    state,
    clusters: `${own.length} of ${stage.length} clusters`,
    ...(since === undefined ? {} : { since }),
    plan: '',
    because,
  };
}

function rankOf({ state }: ClusterLine): number {
  return SEVERITY.indexOf(state) + 1 || SEVERITY.length + 1;
}
