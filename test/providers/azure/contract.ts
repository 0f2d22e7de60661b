/** The contract of provider azure, over our server, with faults. */
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import type { ContractProvider } from '../contract/harness.ts';
import { CONFIG, openAzureBed } from './bed.ts';
import { GROUP } from './server/arm.ts';

const HOST = 'systemd';

export const AZURE_CONTRACT: ContractProvider = {
  entry: PROVIDER_REGISTRY.azure,
  accepted: {
    'an instance': { config: CONFIG, host: HOST },
    'a spot instance of a zone with all fields': {
      config: {
        ...CONFIG,
        image: {
          id: `${GROUP}/providers/Microsoft.Compute/galleries/fleet/images/node/versions/1.2.3`,
        },
        adminUser: 'ops',
        networkSecurityGroupId: `${GROUP}/providers/Microsoft.Network/networkSecurityGroups/nodes`,
        acceleratedNetworking: true,
        identityIds: [`${GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/node`],
        osDisk: { type: 'StandardSSD_LRS', sizeGiB: 100 },
        spot: { maxPricePerHour: 0.98 },
        trustedLaunch: true,
        tags: { team: 'platform' },
      },
      host: HOST,
      zone: 'westeurope-2',
    },
  },
  refused: {
    'an unknown field': [{ config: { ...CONFIG, size: 1 }, host: HOST }, 'nrecognized key'],
    'a field of another provider': [{ config: { ...CONFIG, imageId: 'ami-1' }, host: HOST }, '"imageId"'],
    'no image': [{ config: { ...CONFIG, image: undefined }, host: HOST }, 'spec.infra.config.image'],
    'no SSH key': [
      { config: { ...CONFIG, sshPublicKey: undefined }, host: HOST },
      'spec.infra.config.sshPublicKey',
    ],
    'a sandbox': [{ config: CONFIG, host: 'sandbox' }, 'expected systemd'],
    'a zone of another cloud': [
      { config: CONFIG, host: HOST, zone: 'eu-central-1a' },
      'expected a region and a number, such as westeurope-1',
    ],
    'our tag': [{ config: { ...CONFIG, tags: { 'kubenode-set': 'x' } }, host: HOST }, 'expected no tag'],
  },
  failures: ['Quota', 'Auth', 'Retryable', 'Ambiguous', 'Terminal'],
  withoutFaults: {},
  open: openAzureBed,
};
