/** The controller of MaintenanceEvents, and their view, which the facts read, too. */
import { MAINTENANCE_EVENTS } from '../api/generated/resources.ts';
import { MAINTENANCE_EVENT_INDEXERS } from '../api/machine/maintenance-events.ts';
import { MANAGER_HOSTDOCTOR, PRINCIPAL_HOSTDOCTOR } from '../api/names.ts';
import { createView } from '../kube/cache/view.ts';
import { optional } from '../kube/objects/optional.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createHostDoctorController } from './hostdoctor/controller.ts';
import { createReportRecorder } from './hostdoctor/report/execute.ts';

export async function createHostDoctorControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, skewSeconds, random, log, watch, providers, maintenanceFolder: path } = parts;
  const client = await connectAs(PRINCIPAL_HOSTDOCTOR);
  const events = createView({
    clock,
    random,
    log,
    client,
    metrics: watch,
    resource: MAINTENANCE_EVENTS,
    managers: [MANAGER_HOSTDOCTOR],
    indexers: MAINTENANCE_EVENT_INDEXERS,
  });
  const folder = path === undefined ? undefined : { path, recorder: createReportRecorder(client) };
  return {
    controllers: [createHostDoctorController({ skewSeconds, providers, ...optional('folder', folder) })],
    views: { [MAINTENANCE_EVENTS.kind]: events },
  };
}
