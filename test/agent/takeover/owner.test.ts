import { describe, expect, it } from 'vitest';
import {
  type ClaimedOwner,
  foreignOwnerReason,
  type KnownOwners,
} from '../../../src/agent/takeover/owner.ts';

const N1 = { machine: 'n1', machineUid: 'u1' };

describe('MAC-21 foreignOwnerReason: one host has one Machine', () => {
  it.each<[name: string, known: KnownOwners, claimed: ClaimedOwner, reason: string | undefined]>([
    ['permits a host without an owner', {}, N1, undefined],
    ['permits the Machine that took it over', { record: N1 }, N1, undefined],
    ['permits the same name where a UID is not known', { record: { machine: 'n1' } }, N1, undefined],
    ['permits a release that names no Machine', { record: N1 }, {}, undefined],
    [
      'refuses another name',
      { record: N1 },
      { machine: 'n2', machineUid: 'u1' },
      'this host belongs to Machine n1 (UID u1), not to Machine n2 (UID u1)',
    ],
    [
      'refuses a Machine that was recreated',
      { record: N1 },
      { machine: 'n1', machineUid: 'u2' },
      'this host belongs to Machine n1 (UID u1), not to Machine n1 (UID u2)',
    ],
    [
      'refuses another cluster',
      { record: { ...N1, clusterUid: 'c1' } },
      { ...N1, clusterUid: 'c2' },
      'this host belongs to Machine n1 (UID u1, cluster c1), not to Machine n1 (UID u1, cluster c2)',
    ],
    [
      'refuses a release for another UID',
      { record: N1 },
      { machineUid: 'u2' },
      'this host belongs to Machine n1 (UID u1), not to a Machine (UID u2)',
    ],
    [
      'refuses a host that joined with a token',
      { accepted: { name: 'n1', uid: 'u1' } },
      { machine: 'n2' },
      'this host belongs to Machine n1 (UID u1), not to Machine n2',
    ],
    [
      'refuses a host with the certificate of another Machine',
      { certificateMachine: 'n1' },
      { machine: 'n2' },
      'this host belongs to Machine n1, not to Machine n2',
    ],
  ])('%s', (_, known, claimed, reason) => {
    expect(foreignOwnerReason(known, claimed)).toBe(reason);
  });
});
