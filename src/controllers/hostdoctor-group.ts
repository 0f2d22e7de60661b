/** The controller of MaintenanceEvents, and their view, which the facts read, too. */
import { MAINTENANCE_EVENTS } from '../api/generated/resources.ts';
import { MAINTENANCE_EVENT_INDEXERS } from '../api/machine/maintenance-events.ts';
import { MANAGER_HOSTDOCTOR, PRINCIPAL_HOSTDOCTOR } from '../api/names.ts';
import { createView } from '../kube/cache/view.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createHostDoctorController } from './hostdoctor/controller.ts';

export async function createHostDoctorControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, skewSeconds, random, log, watch, providers } = parts;
  const events = createView({
    clock,
    random,
    log,
    client: await connectAs(PRINCIPAL_HOSTDOCTOR),
    metrics: watch,
    resource: MAINTENANCE_EVENTS,
    managers: [MANAGER_HOSTDOCTOR],
    indexers: MAINTENANCE_EVENT_INDEXERS,
  });
  return {
    controllers: [createHostDoctorController({ skewSeconds, providers })],
    views: { [MAINTENANCE_EVENTS.kind]: events },
  };
}
