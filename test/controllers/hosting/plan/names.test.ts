import { describe, expect, it } from 'vitest';
import { API_SERVERS } from '../../../../src/controllers/hosting/drivers/driver.ts';
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

  it.each([
    ['kube-apiserver', 1, 'kubenode.dev/part=kube-apiserver'],
    ['kube-apiserver', 2, "'kubenode.dev/part=kube-apiserver,!kubenode.dev/member'"],
    ['kube-apiserver-1', 2, 'kubenode.dev/member=kube-apiserver-1'],
    ['kube-scheduler', 2, 'kubenode.dev/part=kube-scheduler'],
  ] as const)('HOS-13 has the log of %s of %d, and of no other API server', (member, count, selector) => {
    const servers = API_SERVERS.slice(0, count);
    const members = servers.map((each) => ({ member: each, state: 'Ready', starts: [] }) as const);
    const plane = { where: 'namespace kn-ci', place: 'Namespace', members } as const;
    expect(logPlace(plane, member)).toBe(`with kubectl -n kn-ci logs -l ${selector}`);
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
