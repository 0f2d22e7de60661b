import { describe, expect, it } from 'vitest';
import { logPlace, placeOf } from '../../../../src/controllers/hosting/plan/place.ts';

describe('the place of a control plane', () => {
  it('is a folder of this machine, or a namespace of the hub', () => {
    expect(placeOf({ where: '/hosting/clusters/ci' })).toEqual(['Folder', '/hosting/clusters/ci']);
    expect(placeOf({ where: 'namespace kn-ci', place: 'Namespace' })).toEqual(['Namespace', 'kn-ci']);
  });

  it('has the logs of members in files, or in pods', () => {
    expect(logPlace({ where: '/hosting/clusters/ci' }, 'etcd')).toBe('in /hosting/clusters/ci/logs');
    expect(logPlace({ where: 'namespace kn-ci', place: 'Namespace' }, 'etcd')).toBe(
      'with kubectl -n kn-ci logs -l kubenode.dev/part=etcd',
    );
  });
});
