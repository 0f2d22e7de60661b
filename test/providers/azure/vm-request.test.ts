import { describe, expect, it } from 'vitest';
import { readPlace } from '../../../src/providers/azure/place.ts';
import { vmBody } from '../../../src/providers/azure/vm-request.ts';
import type { InstanceRequest } from '../../../src/providers/contract.ts';
import { requestOf, SECRET } from '../contract/harness.ts';
import { AGENT, CONFIG } from './bed.ts';
import { GROUP, SUBSCRIPTION } from './server/arm.ts';

const PLACE = readPlace({
  AZURE_SUBSCRIPTION_ID: SUBSCRIPTION,
  AZURE_RESOURCE_GROUP: 'nodes',
  AZURE_LOCATION: 'westeurope',
});
const UID = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';

function bodyOf(config: object = {}, changes: Partial<InstanceRequest> = {}): object {
  const request = requestOf(
    { config: { ...CONFIG, ...config }, host: 'systemd' },
    { machineUid: UID, set: 'a' },
  );
  return vmBody({ ...request, ...changes }, { place: PLACE, name: `kubenode-${UID}`, agent: AGENT });
}

describe('vmBody', () => {
  it('asks for a machine, its interface and its disk, which are deleted with it', () => {
    expect(bodyOf()).toEqual({
      location: 'westeurope',
      tags: {
        'kubenode-cluster-uid': 'c0000000-0000-4000-8000-000000000001',
        'kubenode-machine-uid': UID,
        'kubenode-set': 'a',
        'kubenode-machine': 'n1',
      },
      properties: {
        hardwareProfile: { vmSize: 'Standard_D4s_v5' },
        storageProfile: {
          imageReference: { ...CONFIG.image, version: 'latest' },
          osDisk: {
            createOption: 'FromImage',
            deleteOption: 'Delete',
            managedDisk: { storageAccountType: 'Premium_LRS' },
          },
        },
        osProfile: {
          computerName: 'n1',
          adminUsername: 'azureuser',
          linuxConfiguration: {
            disablePasswordAuthentication: true,
            ssh: {
              publicKeys: [{ path: '/home/azureuser/.ssh/authorized_keys', keyData: CONFIG.sshPublicKey }],
            },
          },
          customData: expect.any(String) as string,
        },
        networkProfile: {
          networkApiVersion: '2022-11-01',
          networkInterfaceConfigurations: [
            {
              name: `kubenode-${UID}`,
              properties: {
                primary: true,
                deleteOption: 'Delete',
                ipConfigurations: [
                  { name: 'primary', properties: { primary: true, subnet: { id: CONFIG.subnetId } } },
                ],
              },
            },
          ],
        },
      },
    });
  });

  it('has the bootstrap file in the custom data only, which Azure never returns', () => {
    const body = JSON.stringify(bodyOf());
    expect(body).not.toContain(SECRET);
    const [, data = ''] = /"customData":"([^"]+)"/.exec(body) ?? [];
    expect(Buffer.from(data, 'base64').toString()).toMatch(/^#cloud-config\n[^]*abcdef\.0123456789abcdef/);
  });

  it('has no custom data for a host that joins without a file', () => {
    const { bootstrap: _, ...request } = requestOf({ config: CONFIG, host: 'systemd' }, { machineUid: UID });
    const body = vmBody(request, { place: PLACE, name: 'x', agent: AGENT });
    expect(JSON.stringify(body)).not.toContain('customData');
  });

  it('passes every field of the config on', () => {
    const encryptionSetId = `${GROUP}/providers/Microsoft.Compute/diskEncryptionSets/keys`;
    const identity = `${GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/node`;
    const networkSecurityGroupId = `${GROUP}/providers/Microsoft.Network/networkSecurityGroups/nodes`;
    expect(
      bodyOf(
        {
          adminUser: 'ops',
          networkSecurityGroupId,
          acceleratedNetworking: true,
          identityIds: [identity],
          osDisk: { type: 'StandardSSD_ZRS', sizeGiB: 100, encryptionSetId },
          spot: { maxPricePerHour: 0.5 },
          trustedLaunch: true,
          tags: { team: 'a' },
        },
        { zone: 'westeurope-2' },
      ),
    ).toMatchObject({
      zones: ['2'],
      identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } },
      tags: { team: 'a' },
      properties: {
        priority: 'Spot',
        evictionPolicy: 'Delete',
        billingProfile: { maxPrice: 0.5 },
        securityProfile: { securityType: 'TrustedLaunch' },
        osProfile: { adminUsername: 'ops' },
        storageProfile: {
          osDisk: {
            diskSizeGB: 100,
            managedDisk: {
              storageAccountType: 'StandardSSD_ZRS',
              diskEncryptionSet: { id: encryptionSetId },
            },
          },
        },
        networkProfile: {
          networkInterfaceConfigurations: [
            {
              properties: {
                enableAcceleratedNetworking: true,
                networkSecurityGroup: { id: networkSecurityGroupId },
              },
            },
          ],
        },
      },
    });
  });

  it('pays the market price for a spot instance without a limit', () => {
    expect(bodyOf({ spot: {} })).toMatchObject({ properties: { billingProfile: { maxPrice: -1 } } });
  });

  it.each([
    ['a-b', 'a-b'],
    ['a.b', `kubenode-${UID}`],
    ['1', `kubenode-${UID}`],
    ['a'.repeat(63), 'a'.repeat(63)],
    ['a'.repeat(64), `kubenode-${UID}`],
  ])('gives the host of Machine %s the name %s', (machine, computerName) => {
    expect(bodyOf({}, { machine })).toMatchObject({ properties: { osProfile: { computerName } } });
  });

  it('refuses a zone of another region', () => {
    expect(() => bodyOf({}, { zone: 'northeurope-1' })).toThrow(
      'spec.zone: this process works in region westeurope, not in northeurope',
    );
  });

  it('refuses user data that is larger than Azure accepts', () => {
    expect(() => bodyOf({}, { bootstrap: 'x'.repeat(70_000) })).toThrow('larger than Azure accepts');
  });
});
