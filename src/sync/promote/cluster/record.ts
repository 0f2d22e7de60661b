/** What of a report and of a new state is recorded in `status.sync`. Pure. */
import type { ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { driftToRecord } from '../../drift-history.ts';
import { MAX_NAMES } from '../bounds.ts';
import type { StageMember } from './stage-member.ts';

export type RecordedState = NonNullable<ClusterSync['state']>;

/** The grace of an unreachable cluster runs from the last contact, through Unreachable and Skipped. */
export function stateSince({ recorded, reachability }: StageMember, state: RecordedState, now: Date): string {
  if ((state === 'Unreachable' || state === 'Skipped') && 'since' in reachability) {
    return reachability.since.toISOString();
  }
  return recorded.state === state && recorded.since !== undefined ? recorded.since : now.toISOString();
}

/** How often a newer `lastContactAt` alone is recorded. */
const RECORD_CONTACT_EVERY_MS = 300_000;

export function withReport(sync: ClusterSync, { snapshot, recorded }: StageMember, now: Date): ClusterSync {
  const { report } = snapshot;
  const lastContactAt = contactToRecord(recorded.lastContactAt, report?.lastContactAt);
  const drift = driftToRecord(recorded.drift, report?.drift, now);
  const contacted = { ...sync, ...optional('lastContactAt', lastContactAt), ...optional('drift', drift) };
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

function contactToRecord(before: string | undefined, observed: Date | undefined): string | undefined {
  if (!observed) return before;
  const isDue = before === undefined || Math.abs(+observed - Date.parse(before)) >= RECORD_CONTACT_EVERY_MS;
  return isDue ? observed.toISOString() : before;
}
