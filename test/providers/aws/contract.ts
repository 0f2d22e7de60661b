/** The contract of provider aws: EC2 as moto emulates it. */
import { PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';
import { noMotoReason } from '../../support/moto/venv.ts';
import type { ContractProvider } from '../contract/harness.ts';
import { type AwsCloud, IMAGE, openAwsBed, startAwsCloud, ZONE } from './bed.ts';

const INLINE = {
  instanceType: 'm5.large',
  imageId: IMAGE,
  rootVolume: { deviceName: '/dev/xvda', sizeGiB: 20 },
  tags: { team: 'a' },
};

let cloud: AwsCloud | undefined;

export const AWS_CONTRACT: ContractProvider = {
  entry: PROVIDER_REGISTRY.aws,
  accepted: {
    'an instance in a zone': { config: INLINE, host: 'systemd', zone: ZONE },
    'a launch template': { config: { launchTemplate: { name: 'workers' } }, host: 'systemd' },
  },
  refused: {
    'an unknown field': [{ config: { ...INLINE, size: 'm' }, host: 'systemd' }, '"size"'],
    'a field of another provider': [{ config: { ...INLINE, pool: 'a' }, host: 'systemd' }, '"pool"'],
    'no image': [
      { config: { instanceType: 'm5.large' }, host: 'systemd' },
      'expected instanceType and imageId',
    ],
    'an image that is not an id': [
      { config: { ...INLINE, imageId: 'debian' }, host: 'systemd' },
      'spec.infra.config.imageId',
    ],
    'a volume without a size': [
      { config: { ...INLINE, rootVolume: { deviceName: '/dev/xvda' } }, host: 'systemd' },
      'spec.infra.config.rootVolume.sizeGiB',
    ],
    'our own tags': [
      { config: { ...INLINE, tags: { 'kubenode-machine-uid': 'x' } }, host: 'systemd' },
      'spec.infra.config.tags',
    ],
    'a sandbox': [{ config: INLINE, host: 'sandbox' }, 'expected systemd'],
    'a zone without a subnet': [
      { config: { ...INLINE, subnetIds: { 'us-east-1b': 'subnet-0a' } }, host: 'systemd', zone: ZONE },
      'no subnet for zone us-east-1a',
    ],
    'a zone of another region': [
      { config: { ...INLINE, region: 'eu-central-1' }, host: 'systemd', zone: ZONE },
      'region eu-central-1',
    ],
  },
  failures: ['Quota', 'Auth', 'Retryable', 'Terminal'],
  withoutFaults: {},
  unavailable: noMotoReason,
  async prepare() {
    const started = await startAwsCloud();
    cloud = started;
    return async () => {
      await started[Symbol.asyncDispose]();
    };
  },
  async open() {
    if (!cloud) throw new Error('the contract of aws was not prepared');
    return await openAwsBed(cloud);
  },
};
