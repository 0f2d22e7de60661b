/** The controller of NodeRemediers, and the view that it needs. */
import { NODE_REMEDIERS } from '../../../api/generated/resources.ts';
import { MANAGER_REMEDY, PRINCIPAL_REMEDY } from '../../../api/names.ts';
import { createRemedyController } from '../../../controllers/remedy/controller.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import { createView } from '../../../kube/cache/view.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

export async function createRemedyControllers({
  connectAs,
  clock,
  random,
  log,
  watch,
}: GroupParts): Promise<ControllerGroup> {
  const view = createView({
    clock,
    random,
    log,
    client: await connectAs(PRINCIPAL_REMEDY),
    metrics: watch,
    resource: NODE_REMEDIERS,
    // Otherwise it would repeat each write after a restart.
    transform: createTransform([], [MANAGER_REMEDY]),
  });
  return { controllers: [createRemedyController()], views: { [NODE_REMEDIERS.kind]: view } };
}
