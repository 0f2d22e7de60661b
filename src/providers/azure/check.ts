/**
 * Checks the credentials and rights of provider azure. Azure has no dry run of a creation; it lists what the caller may do, and that is compared
 * with what the provider does.
 */
import { checkInOrder, NO_CONFIG, tryRight, untriedRight } from '../cloud/rights.ts';
import type { InstanceShape, ProviderCheck } from '../contract.ts';
import { isActionPermitted, type RolePermission, readPermissions } from './api/permissions.ts';
import { readAzureConfig } from './config.ts';
import { listEvents } from './events.ts';
import { COMPUTE_API } from './lookup.ts';
import type { AzureParts } from './parts.ts';
import { groupPath } from './place.ts';

/** The smallest role at the resource group, in the order of the provider's page. */
export const GROUP_RIGHTS: readonly string[] = [
  ...[
    'read',
    'instanceView/read',
    'write',
    'delete',
    'start/action',
    'powerOff/action',
    'restart/action',
  ].map((action) => `Microsoft.Compute/virtualMachines/${action}`),
  'Microsoft.Compute/disks/write',
  'Microsoft.Compute/disks/delete',
  ...['read', 'write', 'delete', 'join/action'].map(
    (action) => `Microsoft.Network/networkInterfaces/${action}`,
  ),
  ...['read', 'write', 'delete'].map((action) => `Microsoft.Resources/deployments/${action}`),
];
const NO_OPERATION = '00000000-0000-0000-0000-000000000000';
const LISTING = 'Microsoft.Authorization/permissions/read';
const EVENTS = 'Microsoft.ResourceHealth/events/read';
const OPERATIONS = 'Microsoft.Compute/locations/operations/read';
const JOIN_SUBNET = 'Microsoft.Network/virtualNetworks/subnets/join/action';
const JOIN_GROUP = 'Microsoft.Network/networkSecurityGroups/join/action';
const ASSIGN_IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action';

export async function checkAzure(
  shape: InstanceShape | undefined,
  parts: Pick<AzureParts, 'api' | 'lookup' | 'place'>,
  signal: AbortSignal,
): Promise<readonly ProviderCheck[]> {
  const { api, place } = parts;
  const group = await rightsAt(groupPath(place), GROUP_RIGHTS);
  if (group.some(({ result }) => result === 'Refused')) return group;
  const others = await checkInOrder([
    () => tryRight(EVENTS, () => listEvents(parts, signal)),
    () => tryRight(OPERATIONS, readNoOperation),
  ]);
  return [
    ...group,
    ...others,
    ...(shape ? await rightsOfShape(shape) : [untriedRight(JOIN_SUBNET, NO_CONFIG)]),
  ];

  /** Azure decides about the right before it looks for the operation, which does not exist. */
  async function readNoOperation(): Promise<void> {
    const { subscription, location } = place;
    const path = `/subscriptions/${subscription}/providers/Microsoft.Compute/locations/${location}/operations/${NO_OPERATION}`;
    await api.send({ method: 'GET', path, query: COMPUTE_API, expected: 404, isPoll: true }, signal);
  }

  async function rightsOfShape(of: InstanceShape): Promise<readonly ProviderCheck[]> {
    const { subnetId, networkSecurityGroupId, identityIds = [] } = readAzureConfig(of);
    const found = [await rightsAt(subnetId, [JOIN_SUBNET])];
    if (networkSecurityGroupId !== undefined) {
      found.push(await rightsAt(networkSecurityGroupId, [JOIN_GROUP]));
    }
    for (const id of identityIds) found.push(await rightsAt(id, [ASSIGN_IDENTITY])); // oxlint-disable-line no-await-in-loop -- at most ten
    return found.flat();
  }

  async function rightsAt(scope: string, rights: readonly string[]): Promise<readonly ProviderCheck[]> {
    let permissions: readonly RolePermission[] = [];
    const listed = await tryRight(LISTING, async () => {
      permissions = await readPermissions(api, scope, signal);
    });
    if (listed.result !== 'Allowed') {
      const hint = `it needs ${LISTING} at ${scope}`;
      return [
        listed,
        ...(listed.result === 'Refused' ? [] : rights.map((right) => untriedRight(right, hint))),
      ];
    }
    return rights.map((right) => judge(right, scope, permissions));
  }
}

function judge(right: string, scope: string, permissions: readonly RolePermission[]): ProviderCheck {
  return isActionPermitted(right, permissions)
    ? { right, result: 'Allowed', message: `a role permits it at ${scope}` }
    : { right, result: 'Missing', message: `no role permits it at ${scope}` };
}
