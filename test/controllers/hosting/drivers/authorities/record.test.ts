import { describe, expect, it } from 'vitest';
import {
  membersBehind,
  newRotation,
  nextPhase,
} from '../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import { severalServers } from '../../../../support/hosting/objects.ts';

const REACHES = { reaches: ['kube-apiserver', 'kube-apiserver-1'] } as const;
const BALANCERS = { 'kubenode-balancer': REACHES, 'kubenode-balancer-1': REACHES };

describe('the members that were not started since a phase began', () => {
  it('HOS-22 are counted for each API server, and none of them in the next phase', () => {
    const reports = severalServers(2, BALANCERS);
    const members = { etcd: 1, 'kube-apiserver': 1, 'kube-scheduler': 1, 'kubenode-controllers': 1 };
    const record = { ...newRotation('2026'), members };
    expect(membersBehind(record, reports)).toEqual(['kube-apiserver-1', 'kube-controller-manager']);
    expect(membersBehind(nextPhase(record, 'IssueNew'), reports)).toEqual(
      reports.map(({ member }) => member).filter((member) => !member.startsWith('kubenode-balancer')),
    );
  });

  it('HOS-22 have a balancer among them that an earlier version of hosting started, once it answers', () => {
    const but = { ...BALANCERS, 'kubenode-balancer': {} };
    const record = { ...newRotation('2026'), members: {} };
    expect(membersBehind(record, severalServers(2, but))).toContain('kubenode-balancer');
    const stopped = { ...but, 'kubenode-balancer': { state: 'Stopped' } } as const;
    expect(membersBehind(record, severalServers(2, stopped))).not.toContain('kubenode-balancer');
  });
});
