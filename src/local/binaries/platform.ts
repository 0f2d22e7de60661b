/** Which machines the upstream project builds a control plane for, and we run it on. */
import { LocalError } from '../errors.ts';

export interface Platform {
  /** As Node says it; for folder names. */
  readonly name: string;
  /** As Go says it; for download addresses. */
  readonly goArch: 'amd64' | 'arm64';
}

export interface Host {
  readonly platform: string;
  readonly arch: string;
}

/** WSL is Linux, for this and for everything below. */
export function platformOf({ platform, arch }: Host): Platform {
  if (platform === 'linux' && arch === 'x64') return { name: 'linux-x64', goArch: 'amd64' };
  if (platform === 'linux' && arch === 'arm64') return { name: 'linux-arm64', goArch: 'arm64' };
  throw new LocalError(
    'Unsupported',
    `local clusters run on Linux (x64, arm64) and in WSL, not on ${platform}/${arch}`,
    {
      where: `${platform}/${arch}`,
      hint:
        platform === 'win32'
          ? 'install WSL (wsl --install) and run kubenode there'
          : 'use a Linux machine or virtual machine; all other commands work here, with --kubeconfig',
    },
  );
}
