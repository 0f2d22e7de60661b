/** Which Releases are created, updated and deleted. Pure. */
import type { Release, ReleaseStatus } from '../../../api/generated/types.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { PromotionInput } from '../snapshot.ts';
import type { StagePlan } from '../stage/stage.ts';
import { releaseFinding } from './findings.ts';
import type { OrderedRelease } from './order.ts';
import { type ClusterNamesByStage, newRelease, releaseName } from './release.ts';
import { releaseStatus } from './status.ts';

export interface ReleaseUpdate {
  readonly release: Release;
  readonly status: ReleaseStatus;
}

/** The newest accepted commit gets a Release; commits that were replaced between two reconciles get none. */
export function missingRelease(
  { pipeline, releases }: PromotionInput,
  history: CommitHistory,
  clusters: ClusterNamesByStage,
): Release | undefined {
  const { newest } = history;
  if (!newest?.targets) return undefined;
  const name = releaseName(pipeline.metadata.name, newest.id);
  if (releases.some(({ metadata }) => metadata.name === name)) return undefined;
  return newRelease(pipeline, newest, clusters, history);
}

/** Finished Releases keep their status, unless a stage is still on them. */
export function planReleases(
  ordered: readonly OrderedRelease[],
  stages: readonly StagePlan[],
  now: Date,
): readonly ReleaseUpdate[] {
  return ordered
    .filter(
      (each) =>
        each.release.status?.finishedAt === undefined || stages.some(({ current }) => current === each),
    )
    .map((each) => {
      const { release } = each;
      return { release, status: releaseStatus(release, releaseFinding(each, stages, ordered, now), now) };
    });
}

/** Kept are unfinished Releases, the newest finished ones, those that a stage is on or proved last, and those that approvals are compared with. */
export function expiredReleases(
  ordered: readonly OrderedRelease[],
  planned: readonly ReleaseUpdate[],
  { stages, limit }: { readonly stages: readonly StagePlan[]; readonly limit: number },
): readonly Release[] {
  const needed = new Set(stages.flatMap(({ current, proven }) => [current, proven]));
  const compared = comparedFrom(ordered, stages);
  const finished = ordered.slice(0, compared).filter((each) => {
    const plan = planned.find(({ release }) => release === each.release);
    const status = plan?.status ?? each.release.status;
    return status?.finishedAt !== undefined && !needed.has(each);
  });
  return finished.slice(0, Math.max(0, finished.length - limit)).map(({ release }) => release);
}

/**
 * Returns the place of the first Release whose authors may still be compared with an approver: a stage with `approvalByOther` has not
 * moved over it yet.
 */
function comparedFrom(ordered: readonly OrderedRelease[], stages: readonly StagePlan[]): number {
  const places = stages
    .filter(({ stage }) => stage.approvalByOther)
    .map(({ current }) => (current ? ordered.indexOf(current) + 1 : 0));
  return Math.min(ordered.length, ...places);
}
