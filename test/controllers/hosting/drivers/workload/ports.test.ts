import { expect, it } from 'vitest';
import {
  etcdPeerUrlAt,
  memberCommand,
} from '../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { urlOf } from '../../../../../src/controllers/hosting/drivers/workload/ports.ts';
import { snapshotJob } from '../../../../../src/controllers/hosting/drivers/workload/snapshot/job.ts';
import { podParts } from '../../../../support/hosting/workload.ts';

const ADDRESS = 'fd00::2';

it('urlOf puts an address of IPv6 in brackets, and leaves names and other addresses', () => {
  expect(urlOf(ADDRESS, 2379)).toBe('https://[fd00::2]:2379');
  expect(urlOf('10.0.0.2', 2379)).toBe('https://10.0.0.2:2379');
  expect(urlOf('api.example.com', 443)).toBe('https://api.example.com:443');
});

it('members and the Job that takes a snapshot reach an etcd with an address of IPv6', () => {
  const addresses = { etcd: [ADDRESS], apiServer: 'fd00::3' };
  expect(etcdPeerUrlAt(ADDRESS)).toBe('https://[fd00::2]:2380');
  expect(memberCommand('etcd', { ...podParts(), addresses }).args).toContain(
    '--advertise-client-urls=https://[fd00::2]:2379',
  );
  expect(memberCommand('kube-apiserver', { ...podParts(), addresses }).args).toContain(
    '--etcd-servers=https://[fd00::2]:2379',
  );
  const job = snapshotJob({
    cluster: 'ci',
    member: 'etcd',
    address: ADDRESS,
    takenAt: new Date(0),
    images: { etcd: 'etcd', kubenode: 'kubenode' },
    versions: { etcd: 'v3.6.8', kubernetes: 'v1.36.3' },
    priorityClass: 'system-cluster-critical',
  });
  expect(JSON.stringify(job)).toContain('--url=https://[fd00::2]:2379');
});
