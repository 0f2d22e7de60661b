import { describe, expect, it } from 'vitest';
import {
  type HostKeyPolicy,
  hostKeyAlgorithms,
  hostKeyOf,
  hostKeyReason,
} from '../../../src/providers/ssh/host-keys.ts';

const ONE = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:one' };
const TWO = { algorithm: 'ssh-rsa', fingerprint: 'SHA256:two' };

describe('hostKeyReason', () => {
  it.each<[string, HostKeyPolicy, string | undefined]>([
    ['accepts a pinned key', { type: 'Pinned', keys: [TWO, ONE] }, undefined],
    [
      'refuses every key when none is pinned',
      { type: 'Pinned', keys: [] },
      'expected a pinned key, and none is pinned, got ssh-ed25519 SHA256:one',
    ],
    [
      'refuses another key',
      { type: 'Pinned', keys: [TWO] },
      'expected ssh-rsa SHA256:two, got ssh-ed25519 SHA256:one',
    ],
    [
      'refuses the fingerprint with another algorithm',
      { type: 'Pinned', keys: [{ ...ONE, algorithm: 'ssh-rsa' }] },
      'expected ssh-rsa SHA256:one, got ssh-ed25519 SHA256:one',
    ],
    ['trusts the first key', { type: 'TrustOnFirstUse' }, undefined],
    ['accepts the recorded key', { type: 'TrustOnFirstUse', known: ONE }, undefined],
    [
      'refuses a key that differs from the recorded one',
      { type: 'TrustOnFirstUse', known: TWO },
      'expected ssh-rsa SHA256:two, got ssh-ed25519 SHA256:one',
    ],
  ])('%s', (_, policy, expected) => {
    expect(hostKeyReason(policy, ONE)).toBe(expected);
  });
});

describe('hostKeyAlgorithms', () => {
  it('negotiates the types of the accepted keys first, and never RSA with SHA-1', () => {
    const all = hostKeyAlgorithms({ type: 'Pinned', keys: [TWO] });
    expect(all.slice(0, 3)).toEqual(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519']);
    expect(all).not.toContain('ssh-rsa');
    expect(hostKeyAlgorithms({ type: 'TrustOnFirstUse' })[0]).toBe('ssh-ed25519');
  });
});

describe('hostKeyOf', () => {
  it('reads the fingerprint as ssh-keygen prints it', () => {
    const blob = 'AAAAC3NzaC1lZDI1NTE5AAAAIFvsfxqDjz1wJnMyB4e9hgtjJp3oVE3wwJmM6yO8BQ2X';
    expect(hostKeyOf(Buffer.from(blob, 'base64'))).toEqual({
      algorithm: 'ssh-ed25519',
      fingerprint: 'SHA256:TA/U/DF36uHb2mopUlUAOGxW6RHt/8/sfPuEpoCvDZ4',
    });
  });

  it('reads a blob that is cut off', () => {
    expect(hostKeyOf(Buffer.from('ab')).algorithm).toBe('');
  });
});
