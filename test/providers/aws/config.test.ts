import { describe, expect, it } from 'vitest';
import { AWS, awsConfigReason, readAwsConfig } from '../../../src/providers/aws/config.ts';
import type { InstanceShape } from '../../../src/providers/contract.ts';

const INLINE = { instanceType: 'm7i.large', imageId: 'ami-0123456789abcdef0' };
const SUBNETS = { 'eu-central-1a': 'subnet-0a', 'eu-central-1b': 'subnet-0b' };

function shape(config: object, zone?: string): InstanceShape {
  return { config: { ...config }, host: 'systemd', ...(zone === undefined ? {} : { zone }) };
}

describe('the platform of an instance of aws', () => {
  it.each([
    ['m7i.large', 'amd64'],
    ['g4dn.xlarge', 'amd64'],
    ['g6e.xlarge', 'amd64'],
    ['u-6tb1.metal', 'amd64'],
    ['u7i-12tb.224xlarge', 'amd64'],
    ['t4g.nano', 'arm64'],
    ['m8gd.large', 'arm64'],
    ['im4gn.large', 'arm64'],
    ['is4gen.large', 'arm64'],
    ['g5g.xlarge', 'arm64'],
    ['a1.large', 'arm64'],
    ['p6e-gb200.36xlarge', 'arm64'],
    ['p6-b200.48xlarge', 'amd64'],
    [undefined, undefined],
  ])('MAC-35 of the type %s has the architecture %s', (instanceType, arch) => {
    const platform = AWS.platformOf?.({ config: { instanceType }, host: 'systemd' });
    expect([platform?.os, platform?.arch]).toEqual(['linux', arch]);
  });
});

describe('awsConfigReason', () => {
  it.each([
    ['a type and an image', shape(INLINE)],
    ['a launch template by name', shape({ launchTemplate: { name: 'workers' } })],
    ['a version of a launch template by id', shape({ launchTemplate: { id: 'lt-0a', version: '7' } })],
    ['a template with another type', shape({ launchTemplate: { name: 'a' }, instanceType: 'm7i.large' })],
    [
      'the zone of a subnet',
      shape({ ...INLINE, region: 'eu-central-1', subnetIds: SUBNETS }, 'eu-central-1a'),
    ],
    ['a zone without subnets', shape(INLINE, 'us-west-2-lax-1a')],
    ['spot with a price', shape({ ...INLINE, spot: { maxPrice: '0.05' } })],
    ['a profile by its ARN', shape({ ...INLINE, iamInstanceProfile: 'arn:aws:iam::1:instance-profile/a' })],
    ['a type with a dash', shape({ ...INLINE, instanceType: 'u-3tb1.56xlarge' })],
    ['an empty config, which asks for no instance', shape({}, 'anywhere')],
  ])('accepts %s', (_, accepted) => {
    expect(awsConfigReason(accepted)).toBeUndefined();
  });

  it.each([
    ['no type', shape({ imageId: INLINE.imageId }), 'expected instanceType and imageId, or launchTemplate'],
    [
      'a template without a name',
      shape({ launchTemplate: {} }),
      'launchTemplate: expected either id or name',
    ],
    ['a template with both', shape({ launchTemplate: { id: 'lt-0a', name: 'a' } }), 'either id or name'],
    [
      'a version that is not one',
      shape({ launchTemplate: { name: 'a', version: 'new' } }),
      'launchTemplate.version',
    ],
    ['a region that is a zone', shape({ ...INLINE, region: 'eu-central-1a' }), 'expected a region'],
    [
      'an id with another prefix',
      shape({ ...INLINE, securityGroupIds: ['subnet-0a'] }),
      'securityGroupIds[0]: expected an id such as sg-',
    ],
    [
      'no subnets',
      shape({ ...INLINE, subnetIds: {} }),
      'subnetIds: expected the subnet of at least one zone',
    ],
    [
      'a zone without a subnet',
      shape({ ...INLINE, subnetIds: SUBNETS }, 'eu-central-1c'),
      'no subnet for zone eu-central-1c',
    ],
    [
      'a zone named as a property',
      shape({ ...INLINE, subnetIds: SUBNETS }, 'constructor'),
      'no subnet for zone constructor',
    ],
    [
      'a zone elsewhere',
      shape({ ...INLINE, region: 'us-east-1' }, 'eu-central-1a'),
      'expected a zone of region us-east-1',
    ],
    ['a price in euros', shape({ ...INLINE, spot: { maxPrice: '5 €' } }), 'spot.maxPrice'],
    ['a price that is a number', shape({ ...INLINE, spot: { maxPrice: 1 } }), 'spot.maxPrice'],
    [
      'a device that is a path',
      shape({ ...INLINE, rootVolume: { deviceName: '/etc', sizeGiB: 9 } }),
      'rootVolume.deviceName',
    ],
    [
      'half a GiB',
      shape({ ...INLINE, rootVolume: { deviceName: '/dev/xvda', sizeGiB: 8.5 } }),
      'rootVolume.sizeGiB',
    ],
    [
      'one of our tags',
      shape({ ...INLINE, tags: { 'KubeNode-Set': 'x' } }),
      'tags: expected no tag that begins with kubenode-',
    ],
    ['a tag of AWS', shape({ ...INLINE, tags: { 'aws:x': 'x' } }), 'or aws:'],
    [
      'too many tags',
      shape({ ...INLINE, tags: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`t${i}`, ''])) }),
      'at most 40 tags',
    ],
    ['a hop limit of zero', shape({ ...INLINE, metadataHopLimit: 0 }), 'metadataHopLimit'],
  ])('refuses %s', (_, refused, expected) => {
    expect(awsConfigReason(refused)).toContain(expected);
  });
});

describe('readAwsConfig', () => {
  it('encrypts the root volume and keeps containers from the metadata, unless the config wants it otherwise', () => {
    const rootVolume = { deviceName: '/dev/xvda', sizeGiB: 20 };
    expect(readAwsConfig(shape({ ...INLINE, rootVolume }))).toMatchObject({
      metadataHopLimit: 1,
      rootVolume: { ...rootVolume, encrypted: true, type: 'gp3' },
    });
  });
});
