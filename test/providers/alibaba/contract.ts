/** The contract of provider alibaba, over our server, with faults. */
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import type { ContractProvider } from '../contract/harness.ts';
import { CONFIG, openAlibabaHarness } from './harness.ts';

const HOST = 'systemd';

export const ALIBABA_CONTRACT: ContractProvider = {
  entry: PROVIDER_REGISTRY.alibaba,
  accepted: {
    'an instance': { config: CONFIG, host: HOST },
    'a spot instance of a zone with all fields': {
      config: {
        ...CONFIG,
        vSwitchIds: { ...CONFIG.vSwitchIds, 'cn-hangzhou-i': 'vsw-bp1xpiowfm5vo8o3cj123' },
        spot: { maxPricePerHour: 0.98 },
        ramRole: 'kubenode-node',
        keyPair: 'ops',
        resourceGroupId: 'rg-bp67acfmxazb4p',
        systemDisk: { category: 'cloud_essd', sizeGiB: 100, performanceLevel: 'PL1' },
        metadataTokens: 'optional',
        tags: { team: 'platform' },
      },
      host: HOST,
      zone: 'cn-hangzhou-h',
    },
  },
  refused: {
    'an unknown field': [{ config: { ...CONFIG, size: 1 }, host: HOST }, 'nrecognized key'],
    'no image': [{ config: { ...CONFIG, imageId: undefined }, host: HOST }, 'spec.infra.config.imageId'],
    'a sandbox': [{ config: CONFIG, host: 'sandbox' }, 'expected systemd'],
    'a zone without a vSwitch': [
      { config: CONFIG, host: HOST, zone: 'cn-hangzhou-k' },
      'no vSwitch for zone cn-hangzhou-k',
    ],
    'our tag': [{ config: { ...CONFIG, tags: { 'kubenode-set': 'x' } }, host: HOST }, 'expected no tag'],
  },
  failures: ['Quota', 'Auth', 'Retryable', 'Ambiguous', 'Terminal'],
  withoutFaults: {},
  open: openAlibabaHarness,
};
