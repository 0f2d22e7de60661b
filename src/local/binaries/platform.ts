/** The platforms that local clusters support: those for which Kubernetes releases a control plane. */
import { LocalError } from '../errors.ts';

export interface Platform {
  /** In the words of Node.js; for folder names. */
  readonly name: string;
  /** In the words of Go; for download URLs. */
  readonly goArch: 'amd64' | 'arm64';
}

export interface HostPlatform {
  readonly platform: string;
  readonly arch: string;
}

/** WSL counts as Linux. */
export function detectPlatform({ platform, arch }: HostPlatform): Platform {
  if (platform === 'linux' && arch === 'x64') return { name: 'linux-x64', goArch: 'amd64' };
  if (platform === 'linux' && arch === 'arm64') return { name: 'linux-arm64', goArch: 'arm64' };
  throw new LocalError(
    'Unsupported',
    `local clusters are not supported on ${platform}/${arch}: they run on Linux (x64, arm64) and in WSL`,
    {
      where: `${platform}/${arch}`,
      hint:
        platform === 'win32'
          ? 'install WSL (wsl --install) and run kubenode there'
          : 'use a Linux machine or virtual machine; the other commands work here with --kubeconfig',
    },
  );
}
