/** Writes the status of a MaintenanceEvent and tells people what changed, or deletes an event that ended long ago. */
import { MAINTENANCE_EVENTS } from '../../api/generated/resources.ts';
import { EVENT_PREFIX, MANAGER_HOSTDOCTOR } from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { MaintenanceInput } from './observe.ts';
import type { MaintenancePlan } from './plan.ts';

export async function carryOutMaintenance(
  { status, isExpired, news }: MaintenancePlan,
  { machine, event }: MaintenanceInput,
  context: ReconcileContext,
): Promise<void> {
  if (isExpired) {
    await context.delete(MAINTENANCE_EVENTS, event, { unchanged: true });
    return;
  }
  const metadata = { name: event.metadata.name, ...optional('uid', event.metadata.uid) };
  const { status: fitting } = truncateToSchema({ ...event, status });
  await context.applyStatus(MAINTENANCE_EVENTS, { metadata, status: fitting });
  if (!news) return;
  const { isBad, phase, note } = news;
  const reason = `${EVENT_PREFIX[MANAGER_HOSTDOCTOR]}${phase}`;
  context.event(machine ?? event, { type: isBad ? 'Warning' : 'Normal', reason, action: 'Prepare', note });
}
