/**
 * Counts the machines with a fault of one class among those that share a property with a machine: by what the controllers recorded in
 * Machines and jobs, so that a restart forgets nothing, and a recording has it.
 */

import { dimensionsOf, dimensionValues, machinePlace } from '../../api/diagnosis/dimensions.ts';
import { DIMENSIONS } from '../../api/enums.ts';
import type { Machine } from '../../api/generated/types.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { TimePoint } from '../clocks/time-point.ts';
import {
  type AffectedCounts,
  type AffectedQuery,
  isAffected,
  WHOLE_CLUSTER,
} from '../facts/reading/affected.ts';
import type { MachineObjects } from '../facts/reading/snapshot.ts';
import type { FactViews } from '../views.ts';
import { createMachineGroups } from './machine-groups.ts';

export interface AffectedMachines {
  /** Returns the counts for each value of the scope that the machine has. */
  readonly count: (machine: string, query: AffectedQuery, point: TimePoint) => readonly AffectedCounts[];
  readonly close: () => void;
}

type ObjectsOf = (machine: string) => Pick<MachineObjects, 'jobs'>;

/** `objectsOf` has to know of a change before this does. */
export function createAffectedMachines(
  { machines, nodes, jobs }: Pick<FactViews, 'machines' | 'nodes' | 'jobs'>,
  objectsOf: ObjectsOf,
): AffectedMachines {
  const groups = createMachineGroups();
  const placeNamed = ({ metadata }: KubeObject): void => place(metadata.name);
  const suspectOf = ({ spec }: { readonly spec: { readonly machine: { readonly name: string } } }): void =>
    suspect(spec.machine.name);
  const closes = [
    machines.store.subscribe({ added: placeNamed, updated: placeNamed, removed: placeNamed }),
    nodes.store.subscribe({ added: placeNamed, updated: placeNamed, removed: placeNamed }),
    jobs.store.subscribe({ added: suspectOf, updated: suspectOf, removed: suspectOf }),
  ];
  return {
    count: (machine, query, point) => {
      const start = keyOf(query.scope, '');
      const keys = groups.keysOf(machine).filter((key) => key.startsWith(start));
      return keys.map((key) => countIn(key, query, point));
    },
    close: () => {
      for (const close of closes) close();
    },
  };

  function countIn(key: string, query: AffectedQuery, point: TimePoint): AffectedCounts {
    const { total, suspects } = groups.group(key);
    let affected = 0;
    for (const name of suspects) {
      const machine = machines.store.get(name);
      if (machine && isAffected(machine, objectsOf(name).jobs, { query, point })) affected += 1;
    }
    return { affected, total };
  }

  function place(name: string): void {
    const machine = machines.store.get(name);
    groups.place(name, machine ? keysOf(machine, nodes.store.get(name)) : []);
    suspect(name);
  }

  function suspect(name: string): void {
    const waits = machines.store.get(name)?.status?.remedyWaits ?? [];
    groups.suspect(name, waits.length > 0 || objectsOf(name).jobs.length > 0);
  }
}

function keysOf(machine: Machine, node: KubeObject | undefined): readonly string[] {
  const dimensions = dimensionsOf(machinePlace(machine, node), machine, node);
  const keys = DIMENSIONS.flatMap((scope) =>
    dimensionValues({ dimensions }, scope).map((value) => keyOf(scope, value)),
  );
  return [keyOf(WHOLE_CLUSTER, ''), ...new Set(keys)];
}

function keyOf(scope: string, value: string): string {
  return `${scope}=${value}`;
}
