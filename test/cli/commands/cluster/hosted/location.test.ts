import { describe, expect, it } from 'vitest';
import { localFolder } from '../../../../../src/cli/commands/cluster/hosted/location.ts';
import { hostedCluster } from '../../../../support/hosting/objects.ts';

function at(location: string) {
  return hostedCluster({ status: { conditions: [], hosted: { location } } });
}

describe('the folder of a hosted cluster', () => {
  it.each([
    ['here:/var/hosting/clusters/ci', '/var/hosting'],
    ['here:/a:b/clusters/ci', '/a:b'],
  ])('is found from %s', (location, folder) => {
    expect(localFolder(at(location), 'here')).toBe(folder);
  });

  it('is not looked for on another machine', () => {
    expect(() => localFolder(at('there:/var/hosting/clusters/ci'), 'here')).toThrow(
      'the control plane of Cluster ci is on another machine: there',
    );
  });

  it('is not known before hosting has recorded it', () => {
    expect(() => localFolder(hostedCluster(), 'here')).toThrow('no hosting has created the control plane');
  });

  it('does not exist for pods of the hub, whose Secret is named instead', () => {
    const pods = hostedCluster({ hosted: { driver: 'workload' } });
    expect(() => localFolder(pods, 'here')).toThrow('is pods in namespace kn-ci of the hub');
  });

  it('does not exist for a cluster that the hub only syncs', () => {
    const { hosted: _, ...spec } = hostedCluster().spec;
    expect(() => localFolder({ ...hostedCluster(), spec }, 'here')).toThrow('Cluster ci is not hosted');
  });
});
