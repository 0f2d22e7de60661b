import { describe, expect, it } from 'vitest';
import { dimensionsOf, dimensionValues } from '../../../src/api/diagnosis/dimensions.ts';
import { DIMENSIONS } from '../../../src/api/enums.ts';
import { component, machine, node } from '../../support/builders.ts';

const PLACE = { zone: 'a', pool: undefined, labels: { 'topology.kubernetes.io/rack': 'r7' } };
const NODE_INFO = {
  kernelVersion: '6.1',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  kubeletVersion: 'v1.34.2',
  containerRuntimeVersion: 'containerd://2.1.0',
};

function entry(name: string, version: string, state: 'Present' | 'Absent') {
  return { ...component(name, version), state, parameters: {} };
}

describe('dimensionsOf', () => {
  it('R21 has a value of every dimension for a machine that reports all', () => {
    const components = [
      entry('kubelet', '1.34.2', 'Present'),
      entry('cni', '1.0', 'Present'),
      entry('npd', '1', 'Absent'),
    ];
    const its = { ...node('n'), status: { nodeInfo: NODE_INFO } };
    const detectorConfig = `sha256:0123456789ab${'f'.repeat(52)}`;
    const status = {
      system: { gpuDriver: '550.1', hardwareClass: 'dgx-h100' },
      agent: { version: '0.9' },
      facts: { detectorConfig },
    };
    const found = dimensionsOf(
      { ...PLACE, pool: 'gpu' },
      machine('n', { spec: { components }, status }),
      its,
    );
    expect(found).toEqual({
      zone: 'a',
      pool: 'gpu',
      rack: 'r7',
      hardware: 'dgx-h100',
      ...NODE_INFO,
      driverVersion: '550.1',
      componentVersion: ['kubelet-1.34.2', 'cni-1.0'],
      detectorVersion: '0.9',
      detectorConfig: '0123456789ab',
    });
    expect(Object.keys(found).toSorted()).toEqual(DIMENSIONS.toSorted());
  });

  it('R21 states nothing that was not observed, and takes the driver from a label without an agent', () => {
    // An agent without files of a detector reports no conditions.
    const bare = machine('n', { spec: { components: [] }, status: { agent: { version: '0.9' } } });
    expect(dimensionsOf(PLACE, bare, undefined)).toEqual({ zone: 'a', rack: 'r7' });
    const labels = {
      'nvidia.com/cuda.driver-version.full': '550.2',
      'node.kubernetes.io/instance-type': 'p5.48xlarge',
    };
    expect(dimensionsOf({ ...PLACE, labels }, bare, undefined)).toEqual({
      zone: 'a',
      hardware: 'p5.48xlarge',
      driverVersion: '550.2',
    });
  });

  it('R21 keeps both ends of a value that is too long, and no character that a terminal obeys', () => {
    const osImage = `Red Hat Enterprise\u001b[31m Linux CoreOS ${'x'.repeat(90)} 415.92 (Plow)`;
    const its = { ...node('n'), status: { nodeInfo: { osImage } } };
    const [value = ''] = dimensionValues({ dimensions: dimensionsOf(PLACE, machine('n'), its) }, 'osImage');
    expect(value).toBe('Red Hat Enterprise?[31m Li...xxxxxxxxxxxx 415.92 (Plow)');
    expect(`osImage=${value}`.length).toBeLessThanOrEqual(64);
  });
});

describe('dimensionValues', () => {
  it('lists one value, several, or none', () => {
    const dimensions = { zone: 'a', componentVersion: ['kubelet-1', 'cni-2'] };
    expect(['zone', 'componentVersion', 'rack'].map((name) => dimensionValues({ dimensions }, name))).toEqual(
      [['a'], ['kubelet-1', 'cni-2'], []],
    );
  });
});
