import { describe, expect, it } from 'vitest';
import { versionIn } from '../../src/rollout/server-version.ts';

const ONE = { gitVersion: 'v1.36.3', emulationMajor: '1' };

describe('versionIn', () => {
  it.each([
    ['a server that tells nothing of emulation', { gitVersion: 'v1.34.2', major: '1' }, 'v1.34.2'],
    ['a server that emulates its own version', { ...ONE, emulationMinor: '36' }, 'v1.36.3'],
    ['HOS-14 a server that emulates an older version', { ...ONE, emulationMinor: '35' }, 'v1.35'],
    ['a server whose minor version begins with the emulated one', { ...ONE, emulationMinor: '3' }, 'v1.3'],
    ['an answer without a version', {}, undefined],
    ['a text', 'ok', undefined],
    ['no answer', undefined, undefined],
  ])('reads the version of %s', (_, answer, expected) => expect(versionIn(answer)).toBe(expected));
});
