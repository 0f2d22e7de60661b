/**
 * Finds what fails in several clusters, from what each of them reports: it is held in all clusters of the policy until it has not failed in
 * so many for a while. The status of the policy is the record; when it is lost, the reports of the clusters give it again. Pure.
 */
import { FLEET_CAUSE_KEY, MAX_FLEET_CAUSES } from '../../api/enums.ts';
import type {
  FleetCause,
  FleetCommonCause,
  FleetFailure,
  FleetPolicy,
  FoundCause,
  FoundCauseCluster,
} from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { secondsAfter } from '../../os/dates.ts';
import { failedRolloutsCause } from './failed-rollouts.ts';
import type { FleetInput, LinkedCluster } from './fleet.ts';

export type CausesByPolicy = ReadonlyMap<string, readonly FoundCause[]>;

type CauseInput = Pick<FleetInput, 'policies' | 'clusters' | 'now'>;

/** Holds what the clusters of one policy report. */
interface PolicyClusters {
  readonly policy: FleetPolicy;
  readonly clusters: readonly LinkedCluster[];
  readonly now: Date;
}

const SHOWN = 20;
const NAMED = 5;
const MAX_MESSAGE = 256;

export function findCauses({ policies, clusters, now }: CauseInput): CausesByPolicy {
  return new Map(
    policies.map((policy) => {
      const own = clusters.filter(({ labels }) => isSelected(policy.spec.clusterSelector, labels));
      const input = { policy, clusters: own, now };
      const found = [...commonCauses(input), ...failedRolloutsCause(input)];
      return [policy.metadata.name, found.toSorted(byKey).slice(0, MAX_FLEET_CAUSES)];
    }),
  );
}

/** Returns what a cluster is told. Undefined: no policy asks it for reports. */
export function causesFor(
  { labels }: Pick<LinkedCluster, 'labels'>,
  policies: readonly FleetPolicy[],
  causes: CausesByPolicy,
): readonly FleetCause[] | undefined {
  const own = policies.filter(
    ({ spec }) =>
      (spec.commonCause ?? spec.failedRollouts) !== undefined && isSelected(spec.clusterSelector, labels),
  );
  if (own.length === 0) return undefined;
  const held = own.flatMap(({ metadata: { name: policy } }) =>
    (causes.get(policy) ?? []).map(({ dimension, value, until, message }) => ({
      dimension,
      value,
      policy,
      until,
      message,
    })),
  );
  const unique = new Map(held.toReversed().map((cause) => [keyOf(cause), cause]));
  return [...unique.values()].toSorted(byKey).slice(0, MAX_FLEET_CAUSES);
}

function commonCauses(input: PolicyClusters): readonly FoundCause[] {
  const { policy, now } = input;
  const { commonCause } = policy.spec;
  if (!commonCause) return [];
  const reports = reportsByCause(input, commonCause);
  const standing = (policy.status?.causes ?? []).filter(
    (cause) =>
      cause.dimension !== 'failedRollouts' &&
      Date.parse(cause.until) > +now &&
      !isIgnored(cause, commonCause),
  );
  const before = new Map(standing.map((cause) => [keyOf(cause), cause]));
  const keys = new Set([...before.keys(), ...reports.keys()]);
  return [...keys].flatMap((key) => {
    const found = { before: before.get(key), reports: reports.get(key) ?? [] };
    return causeOf(found, commonCause, now) ?? [];
  });
}

interface Report {
  readonly cluster: LinkedCluster;
  readonly failure: FleetFailure;
}

/** What a cluster reported before it was cut off counts as long as that of the others. */
function reportsByCause(
  { clusters, now }: PolicyClusters,
  commonCause: FleetCommonCause,
): ReadonlyMap<string, readonly Report[]> {
  const from = +now - commonCause.withinSeconds * 1000;
  const reports = clusters.flatMap((cluster) =>
    (cluster.allowance?.status?.failures ?? [])
      .filter((failure) => Date.parse(failure.at) >= from && !isIgnored(failure, commonCause))
      .map((failure) => ({ cluster, failure })),
  );
  return Map.groupBy(reports, ({ failure }) => keyOf(failure));
}

function isIgnored(cause: Pick<FleetCause, 'dimension' | 'value'>, { ignored }: FleetCommonCause): boolean {
  return ignored.includes(keyOf(cause));
}

interface CauseFacts {
  readonly before: FoundCause | undefined;
  readonly reports: readonly Report[];
}

function causeOf(
  { before, reports }: CauseFacts,
  { clusters: needed, holdSeconds }: FleetCommonCause,
  now: Date,
): FoundCause | undefined {
  const isFailing = reports.length >= needed;
  const [first] = reports;
  const { dimension, value } = before ?? first?.failure ?? {};
  if ((!isFailing && !before) || dimension === undefined || value === undefined) return undefined;
  const clusters = causeClusters(before?.clusters ?? [], reports);
  const newest = reports.toSorted((a, b) => (a.failure.at < b.failure.at ? 1 : -1))[0];
  return {
    dimension,
    value,
    since: before?.since ?? now.toISOString(),
    until: isFailing ? heldUntil(before?.until, holdSeconds, now) : (before?.until ?? now.toISOString()),
    clusters: clusters.slice(0, SHOWN),
    message: newest
      ? messageOf({ dimension, value }, clusters, newest.failure.message)
      : (before?.message ?? ''),
  };
}

/** Renewed when half of it is over, so that a cause that goes on is not a write in each reconcile. */
function heldUntil(before: string | undefined, seconds: number, now: Date): string {
  const isFresh = before !== undefined && Date.parse(before) - +now > (seconds * 1000) / 2;
  return isFresh ? before : secondsAfter(now, seconds).toISOString();
}

/** The commit is that of the first report: a cluster that goes on failing may have been given a better one since. */
function causeClusters(
  before: readonly FoundCauseCluster[],
  reports: readonly Report[],
): readonly FoundCauseCluster[] {
  const reported = reports.map(({ cluster: { name, commit }, failure: { at } }) => {
    const known = before.find(({ cluster }) => cluster === name);
    return { cluster: name, ...optional('commit', known ? known.commit : commit), at };
  });
  const names = new Set(reported.map(({ cluster }) => cluster));
  const others = before.filter(({ cluster }) => !names.has(cluster));
  return [...reported, ...others].toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

function messageOf(
  cause: Pick<FleetCause, 'dimension' | 'value'>,
  clusters: readonly FoundCauseCluster[],
  newest = '',
): string {
  const names = clusters.slice(0, NAMED).map(({ cluster }) => cluster);
  const more = clusters.length - names.length;
  const where = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `${cause.dimension} ${cause.value} failed in ${where}: ${newest}`.slice(0, MAX_MESSAGE);
}

/** `componentUpdate=kubelet-1.36.3`, as `ignored` lists it. */
export function keyOf({ dimension, value }: Pick<FleetCause, 'dimension' | 'value'>): string {
  return `${dimension}=${value}`.slice(0, FLEET_CAUSE_KEY);
}

function byKey(a: Pick<FleetCause, 'dimension' | 'value'>, b: typeof a): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
