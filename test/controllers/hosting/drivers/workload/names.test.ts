import { describe, expect, it } from 'vitest';
import { API_SERVERS, ETCD_MEMBERS } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  apiServersOf,
  memberLabels,
  memberOfLabels,
  roleOf,
  WORKLOAD_MEMBERS,
  workloadMembersOf,
} from '../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { planeRecord } from '../../../../support/hosting/workload.ts';

describe('the members of a control plane of pods', () => {
  it('HOS-13 are one of each role, and several of etcd and API servers where the record has them', () => {
    expect(workloadMembersOf(planeRecord())).toEqual([
      'etcd',
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
      'kubenode-controllers',
    ]);
    const several = planeRecord({ replicas: 3, etcd: { replicas: 3, storageGiB: 8, quotaMiB: 2048 } });
    expect(workloadMembersOf(several).slice(0, 6)).toEqual([...ETCD_MEMBERS.slice(0, 3), ...API_SERVERS]);
    expect([apiServersOf(undefined), apiServersOf({ apiServers: 2 })]).toEqual([
      ['kube-apiserver'],
      ['kube-apiserver', 'kube-apiserver-1'],
    ]);
  });

  it.each(WORKLOAD_MEMBERS)('HOS-13 are told apart by their labels: %s', (member) => {
    expect(memberOfLabels(memberLabels('ci', member))).toBe(member);
  });

  it('HOS-13 have the labels that the Service of the first API server selects, whichever it is', () => {
    const selector = memberLabels('ci', 'kube-apiserver');
    for (const member of API_SERVERS) {
      expect([roleOf(member), memberLabels('ci', member)]).toEqual([
        'kube-apiserver',
        expect.objectContaining(selector),
      ]);
    }
  });
});
