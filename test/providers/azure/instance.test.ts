import { describe, expect, it } from 'vitest';
import {
  isDeleting,
  readAzureInstance,
  readOwner,
  readVm,
  stateOf,
} from '../../../src/providers/azure/instance.ts';
import { readPlace } from '../../../src/providers/azure/place.ts';
import { SUBSCRIPTION } from './server/arm.ts';

const PLACE = readPlace({
  AZURE_SUBSCRIPTION_ID: SUBSCRIPTION,
  AZURE_RESOURCE_GROUP: 'nodes',
  AZURE_LOCATION: 'westeurope',
});
const UID = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';
const TAGS = { 'kubenode-cluster-uid': 'c', 'kubenode-machine-uid': UID, 'kubenode-machine': 'n1' };

function listed(changes: object = {}, properties: object = {}): object {
  return {
    name: `kubenode-${UID}`,
    location: 'westeurope',
    tags: TAGS,
    properties: {
      provisioningState: 'Succeeded',
      timeCreated: '2030-01-01T10:00:00.1234567+00:00',
      ...properties,
    },
    ...changes,
  };
}

function view(...codes: readonly string[]): object {
  return { instanceView: { statuses: codes.map((code) => ({ code })) } };
}

describe('readVm', () => {
  it.each([
    ['null', null],
    ['no name', listed({ name: undefined })],
    ['no time', listed({}, { timeCreated: undefined })],
    ['a time that is not one', listed({}, { timeCreated: 'yesterday' })],
    ['tags that are a text', listed({ tags: 'x' })],
    ['statuses that are not a list', listed({}, { instanceView: { statuses: {} } })],
  ])('does not take %s for an instance, and not for a missing one', (_, value) => {
    expect(() => readVm(value)).toThrow('cannot be read');
  });
});

describe('readOwner', () => {
  it('is the Machine of the tags', () => {
    expect(readOwner(readVm(listed()))).toEqual({
      machine: 'n1',
      tags: { clusterUid: 'c', machineUid: UID },
    });
  });

  it.each([
    ['no tags', { tags: undefined }],
    ['the name of another one', { name: 'kubenode-x' }],
    ['the tags of another one', { tags: { ...TAGS, 'kubenode-machine-uid': UID.replace('0', '1') } }],
    ['no name of a Machine', { tags: { ...TAGS, 'kubenode-machine': '' } }],
  ])('is unknown with %s', (_, changes) => {
    expect(readOwner(readVm(listed(changes)))).toBeUndefined();
    expect(readAzureInstance(readVm(listed(changes)), [], PLACE)).toBeUndefined();
  });
});

describe('readAzureInstance', () => {
  it('has the zone as the label of Nodes, and the same id in whatever case Azure writes it', () => {
    const vm = readVm(listed({ zones: ['2'], name: `KUBENODE-${UID}` }, view('PowerState/running')));
    expect(readAzureInstance(vm, [], PLACE)).toEqual({
      id: `azure:///subscriptions/${SUBSCRIPTION}/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachines/kubenode-${UID}`,
      machine: 'n1',
      tags: { clusterUid: 'c', machineUid: UID },
      state: 'Running',
      zone: 'westeurope-2',
      addresses: [],
      createdAt: new Date('2030-01-01T10:00:00.123Z'),
    });
  });
});

describe('stateOf', () => {
  it.each([
    [view('ProvisioningState/succeeded', 'PowerState/running'), 'Running'],
    [view('PowerState/starting'), 'Pending'],
    [view('PowerState/stopped'), 'Stopped'],
    [view('PowerState/deallocated'), 'Stopped'],
    [view('PowerState/stopping'), 'Unknown'],
    [view('PowerState/deallocating'), 'Unknown'],
    [view('PowerState/toString'), 'Unknown'],
    [view('ProvisioningState/creating'), 'Unknown'],
    [{ ...view('ProvisioningState/creating'), provisioningState: 'Creating' }, 'Pending'],
    [{ provisioningState: 'Creating' }, 'Pending'],
    [{ provisioningState: 'Failed' }, 'Unknown'],
    [{ ...view('PowerState/running'), provisioningState: 'Failed' }, 'Running'],
    [{ ...view('PowerState/running'), provisioningState: 'Deleting' }, 'Unknown'],
  ])('reads %j as %s', (properties, expected) => {
    const vm = readVm(listed({}, properties));
    expect(stateOf(vm)).toBe(expected);
    expect(isDeleting(vm)).toBe(
      'provisioningState' in properties && properties.provisioningState === 'Deleting',
    );
  });
});
