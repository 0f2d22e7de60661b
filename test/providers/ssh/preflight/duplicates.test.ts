import { describe, expect, it } from 'vitest';
import { findDuplicate, type HostIdentity } from '../../../../src/providers/ssh/preflight/duplicates.ts';

const KEY = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:one' };
const HOST: HostIdentity = {
  label: 'host a',
  address: '10.0.0.1',
  port: 22,
  hostName: 'n1',
  machineId: 'm1',
  systemUuid: '4c4c4544-0042-3510-8053-b4c04f4a3233',
  hostKeys: [KEY],
};
const OTHER: HostIdentity = {
  label: 'Machine n2',
  address: '10.0.0.2',
  port: 22,
  hostName: 'n2',
  machineId: 'm2',
  systemUuid: '5c4c4544-0042-3510-8053-b4c04f4a3233',
  hostKeys: [{ ...KEY, fingerprint: 'SHA256:two' }],
};

describe('findDuplicate', () => {
  it.each<[string, Partial<HostIdentity>, string | undefined]>([
    ['two hosts', {}, undefined],
    ['the same address', { address: '10.0.0.1' }, 'Fail: Machine n2 is the same host: it has this address'],
    ['another port of it', { address: '10.0.0.1', port: 2222 }, undefined],
    [
      'the same machine id',
      { machineId: 'm1' },
      'Fail: Machine n2 is the same host: both have the machine id m1',
    ],
    [
      'the same host key',
      { hostKeys: [KEY] },
      'Fail: Machine n2 is the same host: both have the host key SHA256:one',
    ],
    ['the same UUID', { systemUuid: HOST.systemUuid ?? '' }, 'Warn: Machine n2 has the same system UUID'],
  ])('MAC-21 compares a host with the others, and judges %s', (_, more, expected) => {
    const { duplicate } = findDuplicate(HOST, [OTHER, { ...OTHER, ...more }]);
    expect(duplicate && `${duplicate.state}: ${duplicate.found}`).toBe(expected);
  });

  it.each(['00000000-0000-0000-0000-000000000000', '03000200-0400-0500-0006-000700080009'])(
    'takes the UUID %s of many boards for none',
    (systemUuid) => {
      expect(findDuplicate({ ...HOST, systemUuid }, [{ ...OTHER, systemUuid }])).toEqual({});
    },
  );

  it('compares nothing that is not known', () => {
    const unknown = { label: 'host c', hostKeys: [] };
    expect(findDuplicate(unknown, [{ label: 'host d', hostKeys: [] }])).toEqual({});
  });

  it('names who has the name already', () => {
    expect(findDuplicate(HOST, [{ ...OTHER, hostName: 'n1' }])).toEqual({
      nameTakenReason: 'it is the name of Machine n2 too',
    });
  });
});
