/** Describes one cause that fails in several clusters: since when and until when it is held, and where it failed. Pure. */
import type {
  FleetCommonCause,
  FleetFailure,
  FoundCause,
  FoundCauseCluster,
} from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter } from '../../../os/dates.ts';
import type { LinkedCluster } from '../fleet.ts';
import { shortClusterList } from '../short-cluster-list.ts';

/** A failure that a cluster reported within the period. */
export interface CauseReport {
  readonly cluster: LinkedCluster;
  readonly failure: FleetFailure;
}

export interface CauseInput {
  /** The cause as it was held until now. */
  readonly before: FoundCause | undefined;
  readonly reports: readonly CauseReport[];
  readonly terms: Pick<FleetCommonCause, 'clusters' | 'holdSeconds'>;
  readonly now: Date;
}

const SHOWN = 20;
const MAX_MESSAGE = 256;

/** Returns undefined while it fails in too few clusters, and was not held before. */
export function foundCause({ before, reports, terms, now }: CauseInput): FoundCause | undefined {
  const [newest] = reports.toSorted((a, b) => (a.failure.at < b.failure.at ? 1 : -1));
  const isFailing = reports.length >= terms.clusters;
  if (!newest || (!isFailing && !before)) return before;
  const { dimension, value, message } = newest.failure;
  const { since, until, clusters: known } = before ?? newCause(now);
  const clusters = causeClusters(known, reports);
  return {
    dimension,
    value,
    since,
    until: isFailing ? heldUntil(until, terms.holdSeconds, now) : until,
    clusters: clusters.slice(0, SHOWN),
    message:
      `${dimension} ${value} failed in ${shortClusterList(clusters.map(({ cluster }) => cluster))}: ${message}`.slice(
        0,
        MAX_MESSAGE,
      ),
  };
}

function newCause(now: Date): Pick<FoundCause, 'since' | 'until' | 'clusters'> {
  const since = now.toISOString();
  return { since, until: since, clusters: [] };
}

/** Renewed when half of it is over, so that a cause that goes on is not a write in each reconcile. */
function heldUntil(before: string, seconds: number, now: Date): string {
  const isFresh = Date.parse(before) - +now > (seconds * 1000) / 2;
  return isFresh ? before : secondsAfter(now, seconds).toISOString();
}

/** The commit is that of the first report: a cluster that goes on failing may have been given a better one since. */
function causeClusters(
  before: readonly FoundCauseCluster[],
  reports: readonly CauseReport[],
): readonly FoundCauseCluster[] {
  const reported = reports.map(({ cluster: { name, commit }, failure: { at } }) => {
    const known = before.find(({ cluster }) => cluster === name);
    return { cluster: name, ...optional('commit', known ? known.commit : commit), at };
  });
  const names = new Set(reported.map(({ cluster }) => cluster));
  const others = before.filter(({ cluster }) => !names.has(cluster));
  return [...reported, ...others].toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}
