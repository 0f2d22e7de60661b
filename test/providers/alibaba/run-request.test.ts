import { describe, expect, it } from 'vitest';
import { runQuery } from '../../../src/providers/alibaba/run-request.ts';
import { requestOf } from '../contract/harness.ts';
import { AGENT, CONFIG } from './harness.ts';

const SHAPE = { config: CONFIG, host: 'systemd' } as const;
const UID = '0b6f4a52-8a0e-4c55-9d0d-6a0f2b6f1c11';

describe('runQuery', () => {
  it('asks for one instance that is paid by the hour, with the UID of its Machine as the token', () => {
    const { UserData = '', ...query } = runQuery(
      requestOf(SHAPE, { machineUid: UID, set: 'general' }),
      'cn-hangzhou',
      AGENT,
    );
    expect(query).toEqual({
      RegionId: 'cn-hangzhou',
      ClientToken: UID,
      Amount: '1',
      InstanceChargeType: 'PostPaid',
      InstanceName: 'n1',
      InstanceType: 'ecs.g7.large',
      ImageId: CONFIG.imageId,
      VSwitchId: 'vsw-bp1s5fnvk4gn2tws0312',
      'SecurityGroupIds.1': 'sg-bp15ed6xe1yxeycg7o12',
      HttpEndpoint: 'enabled',
      HttpTokens: 'required',
      'Tag.1.Key': 'kubenode-cluster-uid',
      'Tag.1.Value': 'c0000000-0000-4000-8000-000000000001',
      'Tag.2.Key': 'kubenode-machine',
      'Tag.2.Value': 'n1',
      'Tag.3.Key': 'kubenode-machine-uid',
      'Tag.3.Value': UID,
      'Tag.4.Key': 'kubenode-set',
      'Tag.4.Value': 'general',
    });
    expect(Buffer.from(UserData, 'base64').toString()).toContain('#cloud-config');
  });

  it('is the same for the same request, or its token would be refused', () => {
    const request = requestOf(SHAPE, { machineUid: UID });
    expect(runQuery(request, 'cn-hangzhou', AGENT)).toEqual(runQuery(request, 'cn-hangzhou', AGENT));
  });

  it.each<[name: string, config: object, want: object]>([
    ['a spot instance at any price', { spot: {} }, { SpotStrategy: 'SpotAsPriceGo' }],
    [
      'a spot instance',
      { spot: { maxPricePerHour: 0.98 } },
      { SpotStrategy: 'SpotWithPriceLimit', SpotPriceLimit: '0.98' },
    ],
    ['a role', { ramRole: 'node' }, { RamRoleName: 'node' }],
    ['a key pair', { keyPair: 'ops' }, { KeyPairName: 'ops' }],
    [
      'a disk',
      { systemDisk: { sizeGiB: 100 } },
      { 'SystemDisk.Size': '100', 'SystemDisk.Category': 'cloud_essd' },
    ],
    ['a group', { resourceGroupId: 'rg-1' }, { ResourceGroupId: 'rg-1' }],
  ])('asks for %s', (_, config, want) => {
    const request = requestOf({ ...SHAPE, config: { ...CONFIG, ...config } });
    expect(runQuery(request, 'cn-hangzhou', AGENT)).toMatchObject(want);
  });

  it.each([
    ['1st', 'node-1st'],
    ['x', 'node-x'],
    ['worker-1.example', 'worker-1.example'],
  ])('names the instance of Machine %s as ECS accepts it', (machine, want) => {
    expect(runQuery(requestOf(SHAPE, { machine }), 'cn-hangzhou', AGENT)['InstanceName']).toBe(want);
  });

  it('refuses a name that does not fit into a tag: the instance could not be found again', () => {
    const request = requestOf(SHAPE, { machine: 'm'.repeat(129) });
    expect(() => runQuery(request, 'cn-hangzhou', AGENT)).toThrow('at most 128 characters');
  });

  it('refuses user data that ECS would not accept, without quoting it', () => {
    const request = requestOf(SHAPE, { bootstrap: 'x'.repeat(40_000) });
    expect(() => runQuery(request, 'cn-hangzhou', AGENT)).toThrow(
      /^the user data is larger than ECS accepts, 32 KiB$/,
    );
  });
});
