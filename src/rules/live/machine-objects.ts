/** The MaintenanceEvents of each machine. */
import type { MaintenanceEvent } from '../../api/generated/types.ts';

export interface MaintenanceTracker {
  of(machine: string): readonly MaintenanceEvent[];
  put(event: MaintenanceEvent): void;
  remove(event: MaintenanceEvent): void;
}

export function createMaintenanceTracker(): MaintenanceTracker {
  const events = new Map<string, Map<string, MaintenanceEvent>>();
  return {
    of: (machine) => [...(events.get(machine)?.values() ?? [])],
    put: (event) => {
      const { machine } = event.spec;
      const present = events.get(machine) ?? new Map<string, MaintenanceEvent>();
      events.set(machine, present.set(event.metadata.name, event));
    },
    remove: ({ spec, metadata }) => {
      const present = events.get(spec.machine);
      present?.delete(metadata.name);
      if (present?.size === 0) events.delete(spec.machine);
    },
  };
}
