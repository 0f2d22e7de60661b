import { describe, expect, it } from 'vitest';
import type { EtcdListEntry } from '../../../../../src/controllers/hosting/drivers/etcd/member-list.ts';
import { listedMembers } from '../../../../../src/controllers/hosting/drivers/etcd/membership.ts';

const FOUND = { peerUrls: [21, 22, 23].map((port) => `https://127.0.0.1:${port}`) };

function entry(peerPort: number, name = 'x', isLearner = false): EtcdListEntry {
  return { ID: `${peerPort}`, name, peerURLs: [`https://127.0.0.1:${peerPort}`], isLearner };
}

describe('the list of the members of etcd', () => {
  it('HOS-33 recognizes members by the port for their peers, since one that has not joined has no name', () => {
    const entries = [entry(21), entry(23, '', true), entry(99)];
    expect(listedMembers(FOUND, { entries })).toEqual([
      { member: 'etcd', isLearner: false, isStarted: true },
      { member: 'etcd-2', isLearner: true, isStarted: false },
      { member: undefined, isLearner: false, isStarted: true },
    ]);
  });
});
