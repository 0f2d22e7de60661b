/** The words about limits that span clusters: how much of each is in use, who waits and why, and what the hub does not reach. Pure. */

import { valueKey } from '../../api/diagnosis/dimensions.ts';
import { durationText } from '../../api/elapsed.ts';
import type { Cluster, FleetPolicy } from '../../api/generated/types.ts';
import { selectableLabels } from '../../api/status/cluster-labels.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { formatAge } from '../text/age.ts';
import { formatTable } from '../text/table.ts';
import { explainFleetPhase } from './policy-view.ts';

export const NO_FLEET_POLICY =
  'the hub has no FleetPolicy: nothing limits what happens over clusters. Declare one in the fleet program (docs/guides/fleet-limits.md)\n';

export function formatFleetLimits(policies: readonly FleetPolicy[], now: Date): string {
  if (policies.length === 0) return NO_FLEET_POLICY;
  return [
    policyTable(policies),
    causeTable(policies, now),
    usageTable(policies),
    waitTable(policies, now),
    cutOffTable(policies, now),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function policyTable(policies: readonly FleetPolicy[]): string {
  const rows = policies.map((policy) => {
    const { metadata, status } = policy;
    const { total = 0, current = 0 } = status?.clusters ?? {};
    const { phase, because } = explainFleetPhase(policy);
    return [metadata.name, phase, `${current}/${total}`, because];
  });
  return formatTable({ columns: ['Policy', 'Phase', 'Current', 'Why'], rows });
}

function usageTable(policies: readonly FleetPolicy[]): string {
  const limits = policies.flatMap(({ status }) => status?.limits ?? []);
  const failed = policies.flatMap(failedRolloutsRow);
  if (limits.length + failed.length === 0) return '';
  const rows = limits.map(({ id, used = 0, given = 0, max = 0 }) => [id, `${used}`, `${given}`, `${max}`]);
  return formatTable({ columns: ['Limit', 'Used', 'Given', 'Max'], rows: [...rows, ...failed] });
}

/** Nothing is handed out of them: they are counted. */
function failedRolloutsRow({ metadata, spec, status }: FleetPolicy): readonly (readonly string[])[] {
  const { failedRollouts: limit } = spec;
  if (!limit) return [];
  const used = status?.failedRollouts ?? 0;
  const counted = `${metadata.name}: failed rollouts in ${durationText(limit.windowSeconds)}`;
  return [[counted, `${used}`, '-', `${limit.max}`]];
}

/** Lists the causes that failed in several clusters, and are held. */
function causeTable(policies: readonly FleetPolicy[], now: Date): string {
  const causes = policies.flatMap(({ status }) => status?.causes ?? []);
  if (causes.length === 0) return '';
  const rows = causes.map(({ dimension, value, clusters, since, until, message }) => [
    printableLine(valueKey(dimension, value)),
    `${clusters.length}`,
    formatAge(since, now),
    until,
    printableLine(message),
  ]);
  return formatTable({ columns: ['Held', 'Clusters', 'Since', 'Until', 'Why'], rows });
}

function waitTable(policies: readonly FleetPolicy[], now: Date): string {
  const waiting = policies.flatMap(({ status }) => status?.waiting ?? []);
  if (waiting.length === 0) return '';
  const rows = waiting.map(({ cluster, limit, since, message = '' }) => [
    cluster,
    limit,
    formatAge(since, now),
    printableLine(message),
  ]);
  return formatTable({ columns: ['Waiting', 'Limit', 'Since', 'Why'], rows });
}

function cutOffTable(policies: readonly FleetPolicy[], now: Date): string {
  const lost = policies.flatMap(({ status }) => status?.clusters?.cutOff ?? []);
  const unique = [...new Map(lost.map((each) => [each.cluster, each])).values()];
  if (unique.length === 0) return '';
  const rows = unique.map(({ cluster, since, message = '' }) => [
    cluster,
    formatAge(since, now),
    printableLine(message),
  ]);
  return formatTable({ columns: ['Not served', 'Since', 'Why'], rows });
}

/** Answers why acts of a cluster wait for the fleet, or that they do not. */
export function explainFleetLimits(
  policies: readonly FleetPolicy[],
  of: Pick<Cluster, 'metadata' | 'spec'>,
  now: Date,
): string {
  if (policies.length === 0) return NO_FLEET_POLICY;
  const { name: cluster } = of.metadata;
  const stops = policies.filter(({ status }) =>
    status?.conditions.some(({ type, status: value }) => type === 'KillSwitchEngaged' && value === 'True'),
  );
  const lines = [
    ...stops.map(
      ({ metadata, status }) =>
        `stopped by FleetPolicy ${metadata.name}: ${conditionOf(status?.conditions, 'KillSwitchEngaged')?.message ?? ''}`,
    ),
    ...heldLines(policies, of, now),
    ...waitLines(policies, cluster, now),
    ...lostLines(policies, cluster, now),
  ].map(printableLine);
  if (lines.length === 0) return `cluster ${cluster} waits for no limit over clusters\n`;
  return `${lines.join('\n')}\n`;
}

function heldLines(
  policies: readonly FleetPolicy[],
  cluster: Pick<Cluster, 'metadata' | 'spec'>,
  now: Date,
): readonly string[] {
  const labels = selectableLabels(cluster);
  return policies
    .filter(({ spec }) => isSelected(spec.clusterSelector, labels))
    .flatMap(({ status }) => status?.causes ?? [])
    .map(
      ({ dimension, value, since, until, message }) =>
        `held since ${formatAge(since, now)}, until ${until}: ${valueKey(dimension, value)}: ${message}`,
    );
}

function waitLines(policies: readonly FleetPolicy[], cluster: string, now: Date): readonly string[] {
  return policies
    .flatMap(({ status }) => status?.waiting ?? [])
    .filter((wait) => wait.cluster === cluster)
    .map(
      ({ limit, since, message = '' }) =>
        `waits for a share of ${limit} since ${formatAge(since, now)}: ${message}`,
    );
}

function lostLines(policies: readonly FleetPolicy[], cluster: string, now: Date): readonly string[] {
  const lost = policies.flatMap(({ status }) => status?.clusters?.cutOff ?? []);
  const [first] = lost.filter((each) => each.cluster === cluster);
  if (!first) return [];
  return [
    `not served since ${formatAge(first.since, now)}: ${first.message ?? ''}; it continues at its floor`,
  ];
}
