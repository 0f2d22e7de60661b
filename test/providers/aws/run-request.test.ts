import { describe, expect, it } from 'vitest';
import { chooseZone, runRequest } from '../../../src/providers/aws/run-request.ts';
import { requestOf, SECRET } from '../contract/harness.ts';
import { AGENT, IMAGE } from './bed.ts';

const UID = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';
const INLINE = { instanceType: 'm7i.large', imageId: IMAGE };

function run(config: object, zone?: string): ReturnType<typeof runRequest> {
  const shape = {
    config: { ...INLINE, ...config },
    host: 'systemd',
    ...(zone === undefined ? {} : { zone }),
  } as const;
  return runRequest(requestOf(shape, { machineUid: UID, machine: 'general-1', set: 'general' }), AGENT);
}

describe('runRequest', () => {
  it('creates one instance for the UID of the Machine', () => {
    expect(run({})).toMatchObject({
      ClientToken: UID,
      MinCount: 1,
      MaxCount: 1,
      InstanceType: 'm7i.large',
      ImageId: IMAGE,
    });
  });

  it('has the tags at creation, also on what the instance costs beside itself', () => {
    const specifications = run({ tags: { team: 'a', Name: 'mine' } }).TagSpecifications ?? [];
    expect(specifications.map(({ ResourceType }) => ResourceType)).toEqual([
      'instance',
      'volume',
      'network-interface',
    ]);
    expect(Object.fromEntries((specifications[0]?.Tags ?? []).map(({ Key, Value }) => [Key, Value]))).toEqual(
      {
        Name: 'mine',
        team: 'a',
        'kubenode-cluster-uid': 'c0000000-0000-4000-8000-000000000001',
        'kubenode-machine-uid': UID,
        'kubenode-set': 'general',
        'kubenode-machine': 'general-1',
      },
    );
  });

  it('MAC-12 requires sessions for the metadata, so that no container reads the token', () => {
    const options = { HttpEndpoint: 'enabled', HttpTokens: 'required' };
    expect(run({}).MetadataOptions).toEqual({ ...options, HttpPutResponseHopLimit: 1 });
    expect(run({ metadataHopLimit: 2 }).MetadataOptions).toEqual({ ...options, HttpPutResponseHopLimit: 2 });
  });

  it('has the bootstrap file in its user data only', () => {
    const { UserData = '', ...others } = run({});
    expect(Buffer.from(UserData, 'base64').toString()).toContain(SECRET);
    expect(JSON.stringify(others)).not.toContain(SECRET);
    expect(UserData.length).toBeLessThan(16_384);
  });

  it('uses a launch template, and what the config has instead of it', () => {
    const { LaunchTemplate, KeyName, SecurityGroupIds } = run({
      launchTemplate: { name: 'a' },
      keyName: 'k',
      securityGroupIds: ['sg-0a'],
    });
    expect([LaunchTemplate, KeyName, SecurityGroupIds]).toEqual([
      { LaunchTemplateName: 'a', Version: '$Default' },
      'k',
      ['sg-0a'],
    ]);
  });

  it('asks for a spot instance that ends for good, and tags its request', () => {
    const { InstanceMarketOptions, TagSpecifications = [] } = run({ spot: { maxPrice: '0.1' } });
    const options = {
      SpotInstanceType: 'one-time',
      InstanceInterruptionBehavior: 'terminate',
      MaxPrice: '0.1',
    };
    expect(InstanceMarketOptions).toEqual({ MarketType: 'spot', SpotOptions: options });
    expect(TagSpecifications.map(({ ResourceType }) => ResourceType)).toContain('spot-instances-request');
    expect(run({ spot: {} }).InstanceMarketOptions?.SpotOptions).not.toHaveProperty('MaxPrice');
  });

  it('deletes the root volume with the instance', () => {
    const rootVolume = {
      deviceName: '/dev/xvda',
      sizeGiB: 20,
      type: 'io2',
      iops: 500,
      throughput: 125,
      kmsKeyId: 'alias/a',
    };
    expect(run({ rootVolume }).BlockDeviceMappings).toEqual([
      {
        DeviceName: '/dev/xvda',
        Ebs: {
          VolumeSize: 20,
          VolumeType: 'io2',
          Encrypted: true,
          DeleteOnTermination: true,
          Iops: 500,
          Throughput: 125,
          KmsKeyId: 'alias/a',
        },
      },
    ]);
  });

  it.each([
    ['node', { Name: 'node' }],
    ['arn:aws:iam::1:instance-profile/node', { Arn: 'arn:aws:iam::1:instance-profile/node' }],
  ])('gives the profile %s', (iamInstanceProfile, expected) => {
    expect(run({ iamInstanceProfile }).IamInstanceProfile).toEqual(expected);
  });

  it('is in the zone of the Machine, by its subnet where there is one', () => {
    const subnetIds = { 'us-east-1a': 'subnet-0a', 'us-east-1b': 'subnet-0b' };
    expect(run({ subnetIds }, 'us-east-1b')).toMatchObject({ SubnetId: 'subnet-0b' });
    expect(run({ subnetIds }, 'us-east-1b')).not.toHaveProperty('Placement');
    expect(run({}, 'us-east-1b')).toMatchObject({ Placement: { AvailabilityZone: 'us-east-1b' } });
    expect([run({}).Placement, run({}).SubnetId]).toEqual([undefined, undefined]);
  });
});

describe('chooseZone', () => {
  const ZONES = ['c', 'a', 'b'];

  it('chooses the same zone for a Machine, in whatever order the zones are', () => {
    expect(chooseZone(ZONES, UID)).toBe(chooseZone(ZONES.toReversed(), UID));
  });

  it('spreads machines over all zones', () => {
    const chosen = Array.from({ length: 300 }, (_, index) => chooseZone(ZONES, `${index}`));
    for (const zone of ZONES) expect(chosen.filter((each) => each === zone).length).toBeGreaterThan(70);
  });
});
