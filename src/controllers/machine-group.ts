/** The controllers of machines: all that they watch is in the views of the Defender and of the identity of agents. */
import { PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET } from '../api/names.ts';
import { optional } from '../kube/objects/optional.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createMachineController } from './machine/controller.ts';
import { createMachineSetController } from './machineset/controller.ts';

export async function createMachineControllers({
  connectAs,
  grants,
  openInstances,
}: GroupParts): Promise<ControllerGroup> {
  const client = await connectAs(PRINCIPAL_MACHINE);
  const instances = optional('instances', await openInstances(client));
  return {
    controllers: [
      createMachineController({ client, grants, ...instances }),
      createMachineSetController({ client: await connectAs(PRINCIPAL_MACHINESET), grants }),
    ],
    views: {},
  };
}
