import { describe, expect, it } from 'vitest';
import {
  clientPlace,
  logPlace,
  namesOf,
  planePlace,
  removalOf,
  snapshotPlace,
} from '../../../../src/controllers/hosting/plan/names.ts';

it('namesOf lists twenty names and counts the others', () => {
  const names = Array.from({ length: 23 }, (_, index) => `m-${index}`);
  expect(namesOf(names.slice(0, 2))).toBe('m-0, m-1');
  expect(namesOf(names)).toMatch(/, m-19 and 3 more$/);
});

describe('the place of a control plane', () => {
  it('is a folder of this machine, or a namespace of the hub', () => {
    expect(planePlace({ where: '/hosting/clusters/ci' })).toEqual(['Folder', '/hosting/clusters/ci']);
    expect(planePlace({ where: 'namespace kn-ci', place: 'Namespace' })).toEqual(['Namespace', 'kn-ci']);
  });

  it('has the logs of members in files, or in pods', () => {
    expect(logPlace({ where: '/hosting/clusters/ci' }, 'etcd')).toBe('in /hosting/clusters/ci/logs');
    expect(logPlace({ where: 'namespace kn-ci', place: 'Namespace' }, 'etcd')).toBe(
      'with kubectl -n kn-ci logs -l kubenode.dev/part=etcd',
    );
  });

  it('has the data of a member of etcd in a folder, or in the volume of a claim', () => {
    const hub = { where: 'namespace kn-ci', place: 'Namespace' } as const;
    expect(removalOf({ where: '/hosting/clusters/ci' }, 'etcd-1')).toBe(
      'move /hosting/clusters/ci/etcd-1 away',
    );
    expect(removalOf(hub, 'etcd-1')).toBe('delete PersistentVolumeClaim kn-ci/etcd-1, then its pod');
    expect(clientPlace({ where: '/hosting/clusters/ci' })).toContain('/hosting/clusters/ci/etcd-pki');
    expect(clientPlace(hub)).toBe('the certificate in Secret kn-ci/etcd-client');
  });

  it('has the last snapshot in its folder, or in a volume of its namespace', () => {
    expect(snapshotPlace({ where: '/hosting/clusters/ci' })).toBe('/hosting/clusters/ci/snapshots/upgrade');
    expect(snapshotPlace({ where: 'namespace kn-ci', place: 'Namespace' })).toBe(
      'the snapshot in the volume of PersistentVolumeClaim kn-ci/etcd-snapshot',
    );
  });
});
