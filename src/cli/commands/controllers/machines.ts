/** The controllers of machines: all that they watch is in the views of the Defender and of the identity of agents. */
import { PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET } from '../../../api/names.ts';
import { createMachineController } from '../../../controllers/machine/controller.ts';
import { createMachineSetController } from '../../../controllers/machineset/controller.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

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
