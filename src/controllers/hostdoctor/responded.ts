/** Derives from the jobs of a machine whether its provider has accepted an answer to an event, and when. The job controller records it in its step. Pure. */
import type {
  MaintenanceEvent,
  MaintenanceEventStatus,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';

type Responded = Pick<MaintenanceEventStatus, 'responded' | 'respondedAt'>;

/** Returns the last answer. A job may be deleted before the event is: what was recorded stays. */
export function respondedTo(
  { metadata, status }: Pick<MaintenanceEvent, 'metadata' | 'status'>,
  jobs: readonly RemedyOperationJob[],
): Responded {
  const [last] = jobs
    .flatMap((job) => (job.status?.steps ?? []).flatMap(({ answer }) => answer ?? []))
    .filter(({ event, acceptedAt }) => event === metadata.name && acceptedAt !== undefined)
    .toSorted((a, b) => ((a.acceptedAt ?? '') < (b.acceptedAt ?? '') ? 1 : -1));
  if (last) return { responded: 'Accepted', ...optional('respondedAt', last.acceptedAt) };
  return {
    ...optional('responded', status?.responded),
    ...optional('respondedAt', status?.respondedAt),
  };
}
