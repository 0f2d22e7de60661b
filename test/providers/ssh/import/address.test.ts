import { beforeAll, describe, expect, it } from 'vitest';
import type { MachineImport } from '../../../../src/api/generated/types.ts';
import { hostFor } from '../../../../src/providers/ssh/import/address.ts';
import { tempFolder } from '../../../support/temp.ts';
import { makeUserKey, sshUnavailableReason } from '../sshd.ts';

const KEY = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:a' };
const OTHER = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:b' };
const SPEC: MachineImport = {
  address: 'n1.example.com',
  port: 22,
  user: 'root',
  credentialsRef: { name: 'ssh', key: 'ssh-privatekey' },
  hostKeyPolicy: 'Pinned',
  existingNode: 'Reject',
  dryRun: false,
  skipChecks: [],
};

describe.skipIf(sshUnavailableReason() !== undefined)('hostFor', () => {
  let privateKey: string;
  beforeAll(() => {
    ({ privateKey } = makeUserKey(tempFolder('address'), 'user'));
  });

  const read = (spec: object, knownHostKey?: typeof KEY) =>
    hostFor({
      machine: 'n1',
      machineUid: 'u1',
      spec: { ...SPEC, ...spec },
      secret: { privateKey },
      ...(knownHostKey && { knownHostKey }),
    });

  it.each([
    ['pins the keys', { hostKeys: [KEY] }, undefined, { type: 'Pinned', keys: [KEY] }],
    ['accepts no key when none is pinned', {}, undefined, { type: 'Pinned', keys: [] }],
    ['trusts the first key', { hostKeyPolicy: 'TrustOnFirstUse' }, undefined, { type: 'TrustOnFirstUse' }],
    [
      'trusts the known key only',
      { hostKeyPolicy: 'TrustOnFirstUse' },
      OTHER,
      { type: 'TrustOnFirstUse', known: OTHER },
    ],
    [
      'prefers pinned keys',
      { hostKeyPolicy: 'TrustOnFirstUse', hostKeys: [KEY] },
      OTHER,
      { type: 'Pinned', keys: [KEY] },
    ],
  ])('%s', (_, spec, known, want) => {
    expect(read(spec, known).hostKeys).toEqual(want);
  });

  it('goes through the jump host, whose keys are always pinned', () => {
    const via = { address: 'bastion', port: 2022, user: 'jump', hostKeys: [OTHER] };
    expect(read({ hostKeyPolicy: 'TrustOnFirstUse', via }).via).toEqual({
      target: { address: 'bastion', port: 2022, user: 'jump' },
      hostKeys: { type: 'Pinned', keys: [OTHER] },
    });
  });

  it('refuses an address that ssh would take for an option, and a text that is not a key', () => {
    expect(() => read({ address: '-oProxyCommand=x' })).toThrow('expected a host name or an IP address');
    expect(() =>
      hostFor({ machine: 'n1', machineUid: 'u', spec: SPEC, secret: { privateKey: 's3cret' } }),
    ).toThrow(
      expect.objectContaining({
        code: 'InvalidKey',
        where: 'key ssh-privatekey of Secret ssh',
        message: 'the file is not a private key',
      }) as Error,
    );
  });
});
