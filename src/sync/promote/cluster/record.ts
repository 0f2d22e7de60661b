/** Decides what of a report and of a new state is recorded in `status.sync`. Pure. */
import type { ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import { driftToRecord } from '../../drift-history.ts';
import { MAX_NAMES } from '../bounds.ts';
import type { StageMember } from './stage-member.ts';

export type RecordedState = NonNullable<ClusterSync['state']>;

/**
 * Returns the time since which the cluster is in the state. The grace of an unreachable cluster runs from the last contact,
 * through Unreachable and Skipped.
 */
export function stateSince({ recorded, reachability }: StageMember, state: RecordedState, now: Date): string {
  if ((state === 'Unreachable' || state === 'Skipped') && 'since' in reachability) {
    return reachability.since.toISOString();
  }
  return recorded.state === state && recorded.since !== undefined ? recorded.since : now.toISOString();
}

/** How often a newer `lastContactAt` alone is recorded. */
const RECORD_CONTACT_EVERY_MS = 300_000;

/** The most units that the status of a Cluster can hold. */
export const MAX_UNITS = 500;

export function withReport(sync: ClusterSync, { snapshot, recorded }: StageMember, now: Date): ClusterSync {
  const { report } = snapshot;
  const contacted = withUnhealthy({ ...sync, ...observedToRecord(recorded, report, now) }, report);
  const work = report?.work;
  if (!work || work.digest !== sync.renderedDigest) return contacted;
  const { failures: _failures, held: _held, ...rest } = contacted;
  const failures = work.failures.length > 0 ? work.failures.slice(0, MAX_NAMES) : undefined;
  return {
    ...rest,
    objects: work.objects,
    ...optional('failures', failures),
    ...optional('held', work.held),
  };
}

function observedToRecord(
  recorded: ClusterSync,
  { lastContactAt, drift, units, revisions }: Partial<ClusterReport> = {},
  now: Date,
): ClusterSync {
  return {
    ...optional('lastContactAt', contactToRecord(recorded.lastContactAt, lastContactAt)),
    ...optional('drift', driftToRecord(recorded.drift, drift, now)),
    ...optional('units', units?.slice(0, MAX_UNITS)),
    ...optional('revisions', revisions),
  };
}

/** Records the unhealthy objects. Those that were observed last stay while nothing is observed. */
function withUnhealthy(sync: ClusterSync, report: ClusterReport | undefined): ClusterSync {
  const { health, unhealthy = [] } = report ?? {};
  if (!health || health.digest !== sync.renderedDigest) return sync;
  const { unhealthy: _before, ...rest } = sync;
  return { ...rest, ...optional('unhealthy', unhealthy.length > 0 ? unhealthy : undefined) };
}

function contactToRecord(before: string | undefined, observed: Date | undefined): string | undefined {
  if (!observed) return before;
  const isDue = before === undefined || Math.abs(+observed - Date.parse(before)) >= RECORD_CONTACT_EVERY_MS;
  return isDue ? observed.toISOString() : before;
}
