import { describe, expect, it } from 'vitest';
import { formatAzureId, parseAzureId, readPlace, vmNameOf } from '../../../src/providers/azure/place.ts';
import { isOnInstance } from '../../../src/providers/node-provider-id.ts';
import { SUBSCRIPTION } from './server/arm.ts';

const ENV = {
  AZURE_SUBSCRIPTION_ID: SUBSCRIPTION,
  AZURE_RESOURCE_GROUP: 'Fleet_1.(a)',
  AZURE_LOCATION: 'WestEurope',
};
const PLACE = readPlace(ENV);
const UID = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';
const ID = formatAzureId(PLACE, vmNameOf(UID));

describe('readPlace', () => {
  it('reads the place in lower case, as Azure compares it', () => {
    expect(PLACE).toEqual({
      subscription: SUBSCRIPTION,
      resourceGroup: 'fleet_1.(a)',
      location: 'westeurope',
    });
  });

  it.each([
    ['AZURE_SUBSCRIPTION_ID', ''],
    ['AZURE_SUBSCRIPTION_ID', 'production'],
    ['AZURE_RESOURCE_GROUP', ''],
    ['AZURE_RESOURCE_GROUP', 'nodes/../other'],
    ['AZURE_RESOURCE_GROUP', 'nodes?x'],
    ['AZURE_RESOURCE_GROUP', 'ends-with-a-dot.'],
    ['AZURE_RESOURCE_GROUP', 'a'.repeat(91)],
    ['AZURE_LOCATION', ''],
    ['AZURE_LOCATION', 'West Europe'],
  ])('does not accept %s=%j, and names the variable', (name, value) => {
    expect(() => readPlace({ ...ENV, [name]: value })).toThrow(`in ${name}, got`);
  });
});

describe('parseAzureId', () => {
  it('returns the name of an id that this place gave', () => {
    expect(parseAzureId(ID, PLACE)).toBe(`kubenode-${UID}`);
  });

  it('has ids that fit into a status, also with the longest resource group', () => {
    const place = readPlace({ ...ENV, AZURE_RESOURCE_GROUP: 'g'.repeat(90) });
    expect(formatAzureId(place, vmNameOf(UID)).length).toBeLessThanOrEqual(256);
  });

  it.each([
    ['another group', ID.replace('fleet_1.(a)', 'other')],
    ['another subscription', ID.replace(SUBSCRIPTION, UID)],
  ])('names the process that has to be asked for an id of %s', (_, id) => {
    expect(() => parseAzureId(id, PLACE)).toThrow('run kubenode controllers with AZURE_RESOURCE_GROUP');
  });

  it.each([
    ID.toUpperCase(),
    `${ID}/powerOff`,
    `${ID}?api-version=1`,
    ID.replace('kubenode-', ''),
    ID.replace(UID, 'web'),
    ID.replace('virtualMachines', 'disks'),
    `x${ID}`,
    ID.replace('fleet_1.(a)', 'a/b'),
  ])('refuses %j', (id) => {
    expect(() => parseAzureId(id, PLACE)).toThrow('not an id of provider azure');
  });

  it('is what the cloud provider of Azure writes to the Node, in any case', () => {
    expect(isOnInstance(ID, ID.replace('fleet_1', 'FLEET_1'))).toBe(true);
    expect(isOnInstance(ID, ID.replace('fleet_1', 'fleet_2'))).toBe(false);
  });
});
