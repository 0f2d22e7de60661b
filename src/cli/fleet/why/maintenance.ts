/** The announced maintenance of one machine that is not over. */
import { MAINTENANCE_EVENTS } from '../../../api/generated/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { type MaintenanceView, sortMaintenance, viewMaintenance } from '../../../views/maintenance/view.ts';
import { collect } from '../read.ts';

/** Empty where the person may not read MaintenanceEvents. */
export async function readMaintenance(
  client: Client,
  machine: string,
  signal: AbortSignal,
): Promise<readonly MaintenanceView[]> {
  try {
    const all = await collect(client, MAINTENANCE_EVENTS, { signal }, viewMaintenance);
    return sortMaintenance(all.filter((view) => view.machine === machine && !view.isOver));
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return [];
    throw error;
  }
}
