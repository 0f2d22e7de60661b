/** The Releases of a pipeline in the order of their commits, and where each stage stands by them. Pure. */
import type { Release, ReleaseStage } from '../../../api/generated/types.ts';
import type { History } from '../commit-history.ts';

/** One commit on its way. */
export interface Road {
  readonly name: string;
  readonly commit: string;
  readonly order: number;
  readonly release: Release;
}

export function roadsOf(releases: readonly Release[], history: History): readonly Road[] {
  return releases
    .map((release) => {
      const { commit } = release.spec;
      return { name: release.metadata.name, commit, order: history.order(commit), release };
    })
    .toSorted((a, b) => a.order - b.order || begunAt(a) - begunAt(b));
}

/** Tells those apart whose commits are too old to be listed. */
function begunAt({ release }: Road): number {
  return Date.parse(release.status?.startedAt ?? release.metadata.creationTimestamp ?? '') || 0;
}

export function stageOf({ release }: Road, stage: string): ReleaseStage | undefined {
  return release.status?.stages?.find(({ name }) => name === stage);
}

const BUSY: ReadonlySet<ReleaseStage['state'] | undefined> = new Set([
  'Promoting',
  'Soaking',
  'Failed',
] as const);

export interface Present {
  /** The newest that the stage began, or proved. */
  readonly on: Road | undefined;
  /** It has begun, and was not proven when that was last written down. */
  readonly busy: boolean;
  readonly proven: Road | undefined;
}

export function presentOf(roads: readonly Road[], stage: string): Present {
  const busy = roads.findLast((road) => BUSY.has(stageOf(road, stage)?.state));
  const proven = roads.findLast((road) => stageOf(road, stage)?.state === 'Proven');
  const busyIsNewer =
    busy !== undefined && (proven === undefined || roads.indexOf(busy) > roads.indexOf(proven));
  return { on: busyIsNewer ? busy : proven, busy: busyIsNewer, proven };
}

export function newer(a: Road | undefined, b: Road | undefined, roads: readonly Road[]): Road | undefined {
  return b && isAfter(b, a, roads) ? b : a;
}

export function isAfter(road: Road, other: Road | undefined, roads: readonly Road[]): boolean {
  return other === undefined || roads.indexOf(road) > roads.indexOf(other);
}
