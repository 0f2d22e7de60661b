import { describe, expect, it } from 'vitest';
import {
  type HostParts,
  kernelOf,
  machineKind,
  machineLabel,
} from '../../../../src/controllers/componentset/machine/traits.ts';
import { machine, node } from '../../../support/builders.ts';

const INFO = {
  kernelVersion: '6.1.0-18-amd64',
  osImage: 'Debian 12',
  architecture: 'amd64',
  operatingSystem: 'linux',
};

function host(labels: Readonly<Record<string, string>> = {}, info: object = INFO): HostParts {
  return {
    machine: machine('m-1'),
    node: { ...node('m-1', 'True', { labels }), status: { nodeInfo: info } },
  };
}

function reported(system: object): HostParts {
  return { ...host(), machine: machine('m-1', { status: { system } }) };
}

describe('machineLabel', () => {
  it('reads the label of the Node, and that of the Machine before it', () => {
    expect(machineLabel(host({ rack: 'r1' }), 'rack')).toBe('r1');
    const own = machine('m-1', { metadata: { labels: { rack: 'r2' } } });
    expect(machineLabel({ ...host({ rack: 'r1' }), machine: own }, 'rack')).toBe('r2');
    expect(machineLabel({ machine: own }, 'zone')).toBeUndefined();
  });

  it('takes no property of every object for a label', () => {
    expect(machineLabel(host(), 'constructor')).toBeUndefined();
  });
});

describe('kernelOf', () => {
  it('takes the report of the agent, or else that of the kubelet', () => {
    expect(kernelOf(reported({ kernel: '6.6.1' }))).toBe('6.6.1');
    expect(kernelOf(host())).toBe('6.1.0-18-amd64');
    expect(kernelOf({ machine: machine('m-1') })).toBeUndefined();
  });
});

describe('machineKind', () => {
  it.each<[what: string, other: HostParts]>([
    ['zone', host({ 'topology.kubernetes.io/zone': 'z2' })],
    ['image', host({}, { ...INFO, osImage: 'Debian 13' })],
    ['kernel', host({}, { ...INFO, kernelVersion: '6.6.0' })],
    ['architecture', host({}, { ...INFO, architecture: 'arm64' })],
    ['class of hardware', host({ 'node.kubernetes.io/instance-type': 'm5.large' })],
    ['class that the agent reports', reported({ hardwareClass: 'gpu' })],
    ['report', host({}, {})],
  ])('ROL-03 tells machines apart that differ in their %s', (_, other) => {
    expect(machineKind(other)).not.toBe(machineKind(host()));
  });

  it('ROL-03 does not tell machines apart by what is theirs alone', () => {
    expect(machineKind(host({ 'kubernetes.io/hostname': 'other' }))).toBe(machineKind(host()));
  });
});
