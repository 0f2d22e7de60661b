import { describe, expect, it } from 'vitest';
import { detectPlatform } from '../../../src/local/binaries/platform.ts';
import { LocalError } from '../../../src/local/errors.ts';

describe('detectPlatform', () => {
  it.each([
    ['x64', { name: 'linux-x64', goArch: 'amd64' }],
    ['arm64', { name: 'linux-arm64', goArch: 'arm64' }],
  ])('supports Linux on %s', (arch, expected) => {
    expect(detectPlatform({ platform: 'linux', arch })).toEqual(expected);
  });

  it.each([
    ['win32', 'x64', /wsl --install/],
    ['darwin', 'arm64', /virtual machine/],
    ['linux', 'ia32', /virtual machine/],
  ])('refuses %s/%s with a hint', (platform, arch, hint) => {
    const detect = (): unknown => detectPlatform({ platform, arch });
    expect(detect).toThrow(LocalError);
    expect(detect).toThrow(
      expect.objectContaining({ code: 'Unsupported', hint: expect.stringMatching(hint) as string }),
    );
  });
});
