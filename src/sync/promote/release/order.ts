/** The Releases of a Pipeline in the order of their commits, and which one each stage is on. Pure. */
import type { Release, ReleaseStage } from '../../../api/generated/types.ts';
import { type CommitHistory, createCommitHistory } from '../commit-history.ts';

export interface OrderedRelease {
  readonly name: string;
  readonly commit: string;
  readonly order: number;
  readonly release: Release;
}

export function orderReleases(
  releases: readonly Release[],
  history: CommitHistory,
): readonly OrderedRelease[] {
  return releases
    .map((release) => {
      const { commit } = release.spec;
      return { name: release.metadata.name, commit, order: history.order(commit), release };
    })
    .toSorted((a, b) => a.order - b.order || startTime(a) - startTime(b));
}

/** Orders the Releases of a Pipeline by the times at which they were made, for readers without the commits in git. */
export function releasesByTime(releases: readonly Release[]): readonly OrderedRelease[] {
  return orderReleases(releases, createCommitHistory([]));
}

/** Orders Releases whose commits are too old to be listed. */
function startTime({ release }: OrderedRelease): number {
  return Date.parse(release.status?.startedAt ?? release.metadata.creationTimestamp ?? '') || 0;
}

export function recordedStage({ release }: OrderedRelease, stage: string): ReleaseStage | undefined {
  return release.status?.stages?.find(({ name }) => name === stage);
}

const BUSY: ReadonlySet<ReleaseStage['state'] | undefined> = new Set([
  'Promoting',
  'Soaking',
  'Failed',
] as const);

/** Tells where a stage is, as recorded in the status of the Releases. */
export interface StageCurrent {
  /** The newest Release that the stage started or proved. */
  readonly release: OrderedRelease | undefined;
  /** Whether the stage started that Release and has not proven it. */
  readonly busy: boolean;
  readonly proven: OrderedRelease | undefined;
}

export function stageCurrent(releases: readonly OrderedRelease[], stage: string): StageCurrent {
  const busy = releases.findLast((each) => BUSY.has(recordedStage(each, stage)?.state));
  const proven = releases.findLast((each) => recordedStage(each, stage)?.state === 'Proven');
  const busyIsNewer =
    busy !== undefined && (proven === undefined || releases.indexOf(busy) > releases.indexOf(proven));
  return { release: busyIsNewer ? busy : proven, busy: busyIsNewer, proven };
}

export function newerOf(
  a: OrderedRelease | undefined,
  b: OrderedRelease | undefined,
  releases: readonly OrderedRelease[],
): OrderedRelease | undefined {
  return b && isNewer(b, a, releases) ? b : a;
}

export function isNewer(
  release: OrderedRelease,
  other: OrderedRelease | undefined,
  releases: readonly OrderedRelease[],
): boolean {
  return other === undefined || releases.indexOf(release) > releases.indexOf(other);
}
