import { describe, expect, it } from 'vitest';
import { componentReleases } from '../../src/constructs/releases.ts';

const AMD64 = 'a'.repeat(64);
const ARM64 = 'b'.repeat(64);

describe('componentReleases', () => {
  it('gives each version an artifact for each architecture, in the order of the versions', () => {
    const releases = componentReleases({
      component: 'kubelet',
      url: 'https://example.com/v{version}/{arch}/kubelet-{version}',
      versions: { '1.36.4': { amd64: AMD64, arm64: ARM64 }, '1.36.3': { arm64: ARM64 } },
    });
    expect(releases).toEqual([
      {
        component: 'kubelet',
        version: '1.36.4',
        artifacts: [
          { os: 'linux', arch: 'amd64', url: urlOf('1.36.4', 'amd64'), sha256: AMD64 },
          { os: 'linux', arch: 'arm64', url: urlOf('1.36.4', 'arm64'), sha256: ARM64 },
        ],
      },
      {
        component: 'kubelet',
        version: '1.36.3',
        artifacts: [{ os: 'linux', arch: 'arm64', url: urlOf('1.36.3', 'arm64'), sha256: ARM64 }],
      },
    ]);
  });

  it('uses the URL of a version, and passes format and links on', () => {
    const install = [{ from: 'bin/crictl', to: '/usr/local/bin/crictl' }];
    const [release] = componentReleases({
      component: 'crictl',
      url: 'https://example.com/{version}-{arch}.tar.gz',
      format: 'TarGz',
      install,
      versions: { '1.0.0': { url: 'https://old.example.com/{arch}', amd64: AMD64 } },
    });
    expect(release?.artifacts).toEqual([
      {
        os: 'linux',
        arch: 'amd64',
        url: 'https://old.example.com/amd64',
        sha256: AMD64,
        format: 'TarGz',
        install,
      },
    ]);
  });

  it('replaces version and architecture in the paths of links', () => {
    const [release] = componentReleases({
      component: 'node-exporter',
      url: 'https://example.com/{version}-{arch}',
      install: [{ from: 'node_exporter-{version}.linux-{arch}/node_exporter', to: '/usr/local/bin/x' }],
      versions: { '1.9.1': { amd64: AMD64, arm64: ARM64 } },
    });
    expect(release?.artifacts.map(({ install }) => install)).toEqual([
      [{ from: 'node_exporter-1.9.1.linux-amd64/node_exporter', to: '/usr/local/bin/x' }],
      [{ from: 'node_exporter-1.9.1.linux-arm64/node_exporter', to: '/usr/local/bin/x' }],
    ]);
  });

  it.each([
    ['https://example.com/{version}', '1.1.0 for amd64 and 1.1.0 for arm64', 'https://example.com/1.1.0'],
    ['https://example.com/{arch}', '1.1.0 for amd64 and 1.0.0 for amd64', 'https://example.com/amd64'],
  ])('rejects one URL for files that differ: %s', (url, names, filled) => {
    const versions = { '1.1.0': { amd64: AMD64, arm64: ARM64 }, '1.0.0': { amd64: 'c'.repeat(64) } };
    expect(() => componentReleases({ component: 'web', url, versions })).toThrow(
      `component web: ${names} have the same URL and different digests: expected {version} and {arch} in url, got ${filled}`,
    );
  });

  it('takes one URL for versions with the same file', () => {
    const versions = { '1.1.0': { amd64: AMD64 }, '1.0.0': { amd64: AMD64 } };
    const releases = componentReleases({ component: 'web', url: 'https://example.com/web', versions });
    expect(releases.map(({ version }) => version)).toEqual(['1.1.0', '1.0.0']);
  });

  it('rejects a placeholder that it does not know', () => {
    const props = {
      component: 'web',
      url: 'https://example.com/{os}',
      versions: { '1.0.0': { amd64: AMD64 } },
    };
    const message = 'component web: expected {version} and {arch} in url and install, found {os}';
    expect(() => componentReleases(props)).toThrow(message);
    const install = [{ from: '{os}/web', to: '/usr/local/bin/web' }];
    const inLink = { ...props, url: 'https://example.com/{arch}', install };
    expect(() => componentReleases(inLink)).toThrow(message);
  });
});

function urlOf(version: string, arch: string): string {
  return `https://example.com/v${version}/${arch}/kubelet-${version}`;
}
