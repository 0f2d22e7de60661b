import { describe, expect, it } from 'vitest';
import { splitHeartbeats, trimRecorded, withHeartbeats } from '../../../src/rules/recording/trim.ts';
import { condition, machine, node } from '../../support/builders.ts';
import { remedyJob } from '../../support/remediers.ts';

const CONDITION = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  message: 'token abc',
  lastTransitionTime: '2030-01-01T00:00:00Z',
  lastHeartbeatTime: '2030-01-01T12:00:00Z',
};

describe('trimRecorded', () => {
  it('keeps of a Node what facts read, and no message, image, address or annotation of others', () => {
    const full = {
      ...node('n-1', 'True', { uid: 'u-1', annotations: { secret: 'a', 'kubenode.dev/hold': 'x; y' } }),
      spec: { unschedulable: true, podCIDR: '10.0.0.0/24' },
      status: {
        conditions: [CONDITION],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        images: [{ names: ['private/image'] }],
        nodeInfo: { bootID: 'b', machineID: 'm', kernelVersion: '6.8' },
        allocatable: { 'nvidia.com/gpu': '8', cpu: '4' },
      },
    };
    const { message: _, ...kept } = CONDITION;
    expect(trimRecorded('nodes', full)).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'n-1',
        uid: 'u-1',
        labels: { 'kubernetes.io/hostname': 'n-1' },
        annotations: { 'kubenode.dev/hold': 'x; y' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [kept],
        nodeInfo: { bootID: 'b', kernelVersion: '6.8' },
        allocatable: { 'nvidia.com/gpu': '8' },
      },
    });
  });

  it('keeps neither the config of the provider of a Machine nor the inputs of the steps of a job', () => {
    const trimmed = trimRecorded('machines', machine('m-1'));
    expect(trimmed['spec']).toEqual({
      node: { labels: {} },
      infra: { provider: 'local' },
      components: [{ componentRef: 'kubelet-1.34.2', state: 'Present' }],
    });
    const job = trimRecorded('jobs', remedyJob({ outcome: 'Succeeded' }));
    expect(job['spec']).toMatchObject({ plan: [{ id: 's1', step: 'Reboot@v1' }] });
    expect(JSON.stringify(job)).not.toContain('evidence');
  });

  it('keeps the reason and the counts of an Event, without its message', () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      reason: 'A',
      message: 'b',
      count: 3,
    };
    expect(trimRecorded('events', event)).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      reason: 'A',
      count: 3,
    });
  });

  it('leaves a part of another type than its schema has as it is', () => {
    const lying = { ...node('n-1'), status: 'none', spec: null };
    expect(trimRecorded('nodes', lying)).toMatchObject({ status: 'none' });
  });
});

describe('splitHeartbeats', () => {
  it('is undone by withHeartbeats, also for a type that every object has', () => {
    const found = node('n-1');
    const conditions = [CONDITION, { ...CONDITION, type: 'constructor' }, condition('NoHeartbeat', 'True')];
    const full = { ...found, status: { conditions } };
    const { rest, times } = splitHeartbeats(full);
    expect([...times.keys()]).toEqual(['Ready', 'constructor']);
    expect(JSON.stringify(rest)).not.toContain('lastHeartbeatTime');
    expect(withHeartbeats(rest, times)).toEqual(full);
  });
});
