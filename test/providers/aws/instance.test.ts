import type { Instance as Ec2Instance, InstanceStateName } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import {
  formatAwsId,
  isEnding,
  isTerminated,
  parseAwsId,
  readInstance,
} from '../../../src/providers/aws/instance.ts';

const LAUNCHED = new Date('2026-11-27T06:00:00Z');
const ATTACHED = new Date('2026-11-27T04:00:00Z');

function instance(changes: Partial<Ec2Instance> = {}, state: InstanceStateName = 'running'): Ec2Instance {
  return {
    InstanceId: 'i-0123456789abcdef0',
    Placement: { AvailabilityZone: 'eu-central-1a' },
    State: { Name: state },
    PrivateIpAddress: '10.0.0.7',
    PrivateDnsName: 'ip-10-0-0-7.eu-central-1.compute.internal',
    PublicIpAddress: '198.51.100.7',
    LaunchTime: LAUNCHED,
    NetworkInterfaces: [
      { Attachment: { DeviceIndex: 1, AttachTime: LAUNCHED } },
      { Attachment: { DeviceIndex: 0, AttachTime: ATTACHED } },
    ],
    Tags: [
      { Key: 'kubenode-cluster-uid', Value: 'c' },
      { Key: 'kubenode-machine-uid', Value: 'm' },
      { Key: 'kubenode-machine', Value: 'n1' },
    ],
    ...changes,
  };
}

describe('readInstance', () => {
  it('has the id that the cloud provider of Kubernetes writes, and no address that changes', () => {
    expect(readInstance(instance())).toEqual({
      id: 'aws:///eu-central-1a/i-0123456789abcdef0',
      machine: 'n1',
      tags: { clusterUid: 'c', machineUid: 'm' },
      state: 'Running',
      zone: 'eu-central-1a',
      addresses: [
        { type: 'InternalIP', address: '10.0.0.7' },
        { type: 'InternalDNS', address: 'ip-10-0-0-7.eu-central-1.compute.internal' },
      ],
      createdAt: ATTACHED,
    });
  });

  it.each<[InstanceStateName, string]>([
    ['pending', 'Pending'],
    ['running', 'Running'],
    ['stopped', 'Stopped'],
    // It may still run.
    ['stopping', 'Unknown'],
    ['shutting-down', 'Unknown'],
  ])('is %s: %s', (state, expected) => {
    expect(readInstance(instance({}, state))?.state).toBe(expected);
  });

  it('knows no state that EC2 may add', () => {
    const { State: _, ...other } = instance();
    expect(readInstance(other)?.state).toBe('Unknown');
  });

  it('finds no instance of others', () => {
    expect(readInstance(instance({ Tags: [{ Key: 'Name', Value: 'n1' }] }))).toBeUndefined();
  });

  it('has the time of the start where the network is not described', () => {
    expect(readInstance(instance({ NetworkInterfaces: [] }))?.createdAt).toEqual(LAUNCHED);
  });
});

describe('isEnding', () => {
  it.each<[InstanceStateName, boolean, boolean]>([
    ['running', false, false],
    ['stopped', false, false],
    ['shutting-down', true, false],
    ['terminated', true, true],
  ])('tells %s: ending %s, terminated %s', (state, ending, terminated) => {
    expect([isEnding(instance({}, state)), isTerminated(instance({}, state))]).toEqual([ending, terminated]);
  });
});

describe('parseAwsId', () => {
  it('reads what formatAwsId writes', () => {
    const id = { zone: 'us-west-2-lax-1a', instanceId: 'i-0123456789abcdef0' };
    expect(parseAwsId(formatAwsId(id))).toEqual(id);
  });

  it.each([
    'aws:///i-0123456789abcdef0',
    'aws://eu/a/i-0123456789abcdef0',
    'aws:///a/i-xyz',
    'aws:///a/i-0123456789abcdef0\n',
    'aws:////i-0123456789abcdef0',
  ])('refuses %j', (id) => {
    expect(() => parseAwsId(id)).toThrow('not an id of provider aws');
  });
});
