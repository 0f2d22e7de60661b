/**
 * Records that the virtual machine of a Machine was deleted, so that its UID creates no other one: a name of Azure is free again after a
 * deletion. The record is a deployment without resources in the history of the resource group. It costs nothing, and Azure removes the oldest
 * ones when it has some hundreds.
 */
import { isProviderError } from '../contract.ts';
import { isArmCode } from './errors.ts';
import type { AzureParts } from './parts.ts';
import { groupPath } from './place.ts';

type RecordParts = Pick<AzureParts, 'api' | 'place'>;

const API = { 'api-version': '2021-04-01' } as const;
const SCHEMA = 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#';

/** Incremental is the mode that leaves alone what is in the resource group. The other mode would delete all of it. */
const EMPTY_DEPLOYMENT = {
  properties: {
    mode: 'Incremental',
    template: { $schema: SCHEMA, contentVersion: '1.0.0.0', resources: [] },
  },
} as const;

export async function recordDeletion(
  vmName: string,
  { api, place }: RecordParts,
  signal: AbortSignal,
): Promise<void> {
  const request = { method: 'PUT', path: pathOf(vmName, place), query: API, body: EMPTY_DEPLOYMENT } as const;
  try {
    await api.send(request, signal);
  } catch (error) {
    // Another call records the same.
    if (!isArmCode(error, 'DeploymentActive')) throw error;
  }
}

export async function isDeletionRecorded(
  vmName: string,
  { api, place }: RecordParts,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.send({ method: 'GET', path: pathOf(vmName, place), query: API }, signal);
    return true;
  } catch (error) {
    if (isArmCode(error, 'DeploymentNotFound') || isProviderError(error, 'NotFound')) return false;
    throw error;
  }
}

function pathOf(vmName: string, place: RecordParts['place']): string {
  return `${groupPath(place)}/providers/Microsoft.Resources/deployments/deleted-${vmName}`;
}
