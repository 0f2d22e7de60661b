/**
 * Finds what fails in several clusters, from what each of them reports: it is held in all clusters of the policy until it has not failed in
 * so many for a while. The status of the policy is the record; when it is lost, the reports of the clusters give it again. Pure.
 */
import { valueKey } from '../../../api/diagnosis/dimensions.ts';
import { MAX_FLEET_CAUSES } from '../../../api/enums.ts';
import type { FleetCause, FleetCommonCause, FleetPolicy, FoundCause } from '../../../api/generated/types.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import { type FleetInput, type LinkedCluster, reportsOf } from '../fleet.ts';
import { failedRolloutsCause } from './failed-rollouts.ts';
import { type CauseReport, foundCause } from './found-cause.ts';

export type CausesByPolicy = ReadonlyMap<string, readonly FoundCause[]>;

type CauseInput = Pick<FleetInput, 'policies' | 'clusters' | 'now'>;

/** Holds what the clusters of one policy report. */
interface PolicyClusters {
  readonly policy: FleetPolicy;
  readonly clusters: readonly LinkedCluster[];
  readonly now: Date;
}

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

/** Returns the causes that a cluster holds. Undefined: no policy asks it for reports. */
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
    const found = { before: before.get(key), reports: reports.get(key) ?? [], terms: commonCause, now };
    return foundCause(found) ?? [];
  });
}

/** The reports of a cluster that is cut off since count as long as those of the others. */
function reportsByCause(
  { clusters, now }: PolicyClusters,
  commonCause: FleetCommonCause,
): ReadonlyMap<string, readonly CauseReport[]> {
  const from = +now - commonCause.withinSeconds * 1000;
  const reports = clusters.flatMap((cluster) =>
    (reportsOf(cluster)?.failures ?? [])
      .filter((failure) => Date.parse(failure.at) >= from && !isIgnored(failure, commonCause))
      .map((failure) => ({ cluster, failure })),
  );
  return Map.groupBy(reports, ({ failure }) => keyOf(failure));
}

function isIgnored(cause: Pick<FleetCause, 'dimension' | 'value'>, { ignored }: FleetCommonCause): boolean {
  return ignored.includes(keyOf(cause));
}

/** Returns the name of the cause as `ignored` lists it: `componentUpdate=kubelet-1.36.3`. */
function keyOf({ dimension, value }: Pick<FleetCause, 'dimension' | 'value'>): string {
  return valueKey(dimension, value);
}

function byKey(a: Pick<FleetCause, 'dimension' | 'value'>, b: typeof a): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
