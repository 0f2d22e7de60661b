import { describe, expect, it } from 'vitest';
import type { EtcdListEntry } from '../../../../../../src/controllers/hosting/drivers/process/etcd/member-list.ts';
import {
  beginningCommand,
  listedMembers,
} from '../../../../../../src/controllers/hosting/drivers/process/etcd/membership.ts';
import { createLayout } from '../../../../../../src/local/layout.ts';

const STATE = {
  version: 1,
  etcdPort: 11,
  etcdMembers: [11, 12, 13].map((port) => ({ port, peerPort: port + 10 })),
  clusters: [],
} as const;
const FOUND = { layout: createLayout('/ci'), state: STATE };

function entry(peerPort: number, name = 'x', isLearner = false): EtcdListEntry {
  return { ID: `${peerPort}`, name, peerURLs: [`https://127.0.0.1:${peerPort}`], isLearner };
}

describe('the list of the members of etcd', () => {
  it('HOS-33 recognizes members by the port for their peers, since one that has not joined has no name', () => {
    const entries = [entry(21), entry(23, '', true), entry(99)];
    const endpoint = { url: '', caPem: '' };
    expect(listedMembers(FOUND, { endpoint, index: 0, entries })).toEqual([
      { member: 'etcd', isLearner: false, isStarted: true },
      { member: 'etcd-2', isLearner: true, isStarted: false },
      { member: undefined, isLearner: false, isStarted: true },
    ]);
  });

  it('HOS-33 begins an etcd whose members no other control plane takes for its own', () => {
    const command = { program: 'etcd', args: ['--name=etcd', '--initial-cluster-state=existing'] };
    expect(beginningCommand(command, 'uid-ci').args).toEqual([
      '--name=etcd',
      '--initial-cluster-state=new',
      '--initial-cluster-token=uid-ci',
    ]);
  });
});
