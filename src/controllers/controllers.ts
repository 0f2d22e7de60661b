/**
 * Lists the controllers of a cluster, beside that of the Defender, in groups: a group has the accounts, views and metrics that its
 * controllers need, and may read the views of the groups before it.
 */
import {
  MANAGER_CLUSTERAPI,
  MANAGER_CLUSTERAPI_REMEDIATION,
  MANAGER_CLUSTERAPI_UPDATE,
  MANAGER_COMPONENTSET,
  MANAGER_EXTERNAL,
  MANAGER_MACHINE,
  MANAGER_MACHINESET,
  MANAGER_NODEGROUP,
  MANAGER_REMEDY,
  MANAGER_REMEDYJOB,
} from '../api/names.ts';
import type { Views } from '../kube/controller/views.ts';
import type { OpenProviders } from '../providers/registry.ts';
import { createClusterApiControllers } from './clusterapi-group.ts';
import { createExternalNodesControllers } from './external-group.ts';
import type { ControllerGroup, CreateGroup, GroupParts } from './group.ts';
import { createHostDoctorControllers } from './hostdoctor-group.ts';
import { createIdentityControllers } from './identity-group.ts';
import { createMachineControllers } from './machine-group.ts';
import { createRemedyControllers } from './remedy-group.ts';
import { createRolloutControllers } from './rollout-group.ts';

const GROUPS: readonly CreateGroup[] = [
  // approver, bootstraptoken
  createIdentityControllers,
  // machine, machineset, orphansweep
  createMachineControllers,
  // componentset, machinecomponent
  createRolloutControllers,
  // hostdoctor
  createHostDoctorControllers,
  // remedy, remedyjob, notifier, tracer
  createRemedyControllers,
  // clusterapi, remediation
  createClusterApiControllers,
  // external, nodegroup
  createExternalNodesControllers,
];

/**
 * The field managers of controllers that apply to what the Defender watches, too. Their managedFields are kept: without them the
 * controllers would repeat each write.
 */
export const MANAGERS = [
  MANAGER_MACHINE,
  MANAGER_MACHINESET,
  MANAGER_COMPONENTSET,
  MANAGER_REMEDY,
  MANAGER_REMEDYJOB,
  MANAGER_CLUSTERAPI,
  MANAGER_CLUSTERAPI_REMEDIATION,
  MANAGER_CLUSTERAPI_UPDATE,
  MANAGER_EXTERNAL,
  MANAGER_NODEGROUP,
];

/** Creates the groups one after the other, with the views of the Defender. */
export async function createControllerGroups(
  parts: Omit<GroupParts, 'views' | 'providers'>,
  shared: Views,
): Promise<readonly ControllerGroup[]> {
  const groups: ControllerGroup[] = [];
  for (const create of GROUPS) {
    const views = allViews([{ views: shared }, ...groups]);
    const providers = Object.assign({}, ...groups.map((group) => group.providers)) as OpenProviders;
    groups.push(await create({ ...parts, views, providers })); // oxlint-disable-line no-await-in-loop -- in this order
  }
  return groups;
}

export function allViews(groups: readonly Pick<ControllerGroup, 'views'>[]): Views {
  return Object.fromEntries(groups.flatMap(({ views }) => Object.entries(views)));
}
