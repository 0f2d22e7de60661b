import { describe, expect, it } from 'vitest';
import {
  formatAlibabaId,
  parseAlibabaId,
  readEcsInstance,
  readListed,
} from '../../../src/providers/alibaba/instance.ts';
import { DESCRIBED_INSTANCE } from './documented.ts';

const TAGS = [
  { TagKey: 'kubenode-cluster-uid', TagValue: 'c' },
  { TagKey: 'kubenode-machine-uid', TagValue: 'm' },
  { TagKey: 'kubenode-machine', TagValue: 'n1' },
];

describe('parseAlibabaId', () => {
  it('reads what formatAlibabaId writes, which ends with what the controller of Alibaba Cloud writes', () => {
    const id = formatAlibabaId('cn-hangzhou', 'i-bp67acfmxazb4p');
    expect([id, parseAlibabaId(id, 'cn-hangzhou')]).toEqual([
      'alibaba://cn-hangzhou.i-bp67acfmxazb4p',
      'i-bp67acfmxazb4p',
    ]);
  });

  it('refuses an instance of another region, whose list this process does not see', () => {
    expect(() => parseAlibabaId('alibaba://cn-beijing.i-1', 'cn-hangzhou')).toThrow(
      'not in region cn-hangzhou',
    );
  });

  it.each([
    'i-1',
    'cn-hangzhou.i-1',
    'alibaba://i-1',
    'alibaba://cn-hangzhou.i-1&Force=true',
    'aws:///a/i-1',
  ])('refuses %j as no id of this provider', (id) => {
    expect(() => parseAlibabaId(id, 'cn-hangzhou')).toThrow('not an id of provider alibaba');
  });
});

describe('readEcsInstance', () => {
  it('takes an instance without our tags for that of others, as in the documented answer', () => {
    expect(readEcsInstance(readListed(DESCRIBED_INSTANCE), 'cn-hangzhou')).toBeUndefined();
  });

  it('reads the documented answer, with our tags', () => {
    const listed = readListed({ ...DESCRIBED_INSTANCE, Tags: { Tag: TAGS } });
    expect(readEcsInstance(listed, 'cn-hangzhou')).toEqual({
      id: 'alibaba://cn-hangzhou.i-bp67acfmxazb4p0000',
      machine: 'n1',
      tags: { clusterUid: 'c', machineUid: 'm' },
      state: 'Running',
      zone: 'cn-hangzhou-g',
      addresses: [
        { type: 'InternalIP', address: '172.17.0.1' },
        { type: 'ExternalIP', address: '121.40.0.1' },
        { type: 'ExternalIP', address: '42.112.0.1' },
      ],
      createdAt: new Date('2017-12-10T04:04:00Z'),
    });
  });

  it.each([
    ['Pending', 'Pending'],
    ['Starting', 'Pending'],
    ['Running', 'Running'],
    ['Stopping', 'Unknown'],
    ['Stopped', 'Stopped'],
    ['Hibernating', 'Unknown'],
  ])('takes the state %s for %s', (Status, want) => {
    const listed = readListed({ ...DESCRIBED_INSTANCE, Tags: { Tag: TAGS }, Status });
    expect(readEcsInstance(listed, 'cn-hangzhou')?.state).toBe(want);
  });
});

describe('readListed', () => {
  it.each([
    ['no id', { InstanceId: undefined }],
    ['an id with more in it', { InstanceId: 'i-1"' }],
    ['no state', { Status: undefined }],
    ['no time', { CreationTime: 'yesterday' }],
    ['tags that are a text', { Tags: 'x' }],
  ])('throws for an instance with %s, which is neither there nor missing', (_, changes) => {
    expect(() => readListed({ ...DESCRIBED_INSTANCE, ...changes })).toThrow('cannot be read');
  });
});
