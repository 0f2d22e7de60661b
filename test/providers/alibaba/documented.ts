/**
 * Answers as the API reference of ECS prints them (pages DescribeInstances and DescribeInstanceHistoryEvents of version 2014-05-26), with
 * digits where the reference has asterisks.
 */
export const DESCRIBED_INSTANCE: Readonly<Record<string, unknown>> = {
  ResourceGroupId: 'rg-bp67acfmxazb4p0000',
  Memory: 16384,
  InstanceChargeType: 'PostPaid',
  Cpu: 8,
  OSName: 'CentOS  7.4 64-bit',
  InstanceNetworkType: 'vpc',
  InnerIpAddress: { IpAddress: [] },
  ExpiredTime: '2017-12-10T04:04Z',
  ImageId: 'm-bp67acfmxazb4p0000',
  EipAddress: {
    AllocationId: 'eip-2ze88m67qx5z0000',
    IpAddress: '42.112.0.1',
    InternetChargeType: 'PayByTraffic',
  },
  HostName: 'testHostName',
  Tags: { Tag: [{ TagKey: 'TestKey', TagValue: 'TestValue' }] },
  VlanId: '',
  Status: 'Running',
  MetadataOptions: { HttpTokens: 'optional', HttpEndpoint: 'enabled' },
  InstanceId: 'i-bp67acfmxazb4p0000',
  StoppedMode: 'KeepCharging',
  StartTime: '2017-12-10T04:04Z',
  DeletionProtection: false,
  SecurityGroupIds: { SecurityGroupId: ['sg-bp67acfmxazb4p0000'] },
  VpcAttributes: {
    PrivateIpAddress: { IpAddress: ['172.17.0.1'] },
    VpcId: 'vpc-2zeuphj08tt7q3brd0000',
    VSwitchId: 'vsw-2zeh0r1pabwtg6wcs0000',
    NatIpAddress: '172.17.0.2',
  },
  InstanceName: 'InstanceNameTest',
  CreationTime: '2017-12-10T04:04Z',
  PublicIpAddress: { IpAddress: ['121.40.0.1'] },
  SpotPriceLimit: 0.98,
  SpotStrategy: 'NoSpot',
  ZoneId: 'cn-hangzhou-g',
  OperationLocks: { LockReason: [] },
  RegionId: 'cn-hangzhou',
};

export const HISTORY_EVENTS: readonly object[] = [
  {
    InstanceId: 'i-uf678mass4zvr9n10000',
    EventId: 'e-uf64yvznlao4jl2c0000',
    EventType: { Code: 1, Name: 'SystemMaintenance.Reboot' },
    EventCycleStatus: { Code: 0, Name: 'Executed' },
    EventPublishTime: '2017-11-30T06:32:31Z',
    NotBefore: '2017-12-01T06:32:31Z',
    EventFinishTime: '2017-12-01T06:35:31Z',
  },
  {
    InstanceId: 'i-uf678mass4zvr9n10000',
    EventId: 'e-uf61cbvp0w8x2xfx0000',
    EventType: { Code: 34, Name: 'InstanceExpiration.Stop' },
    EventCycleStatus: { Code: 8, Name: 'Avoided' },
    EventPublishTime: '2017-11-29T06:32:31Z',
    NotBefore: '2017-12-06T00:00:00Z',
    EventFinishTime: '2017-12-05T12:35:31Z',
  },
];
