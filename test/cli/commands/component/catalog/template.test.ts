import { describe, expect, it } from 'vitest';
import { CATALOG_NAMES, findInCatalog } from '../../../../../src/cli/commands/component/catalog/catalog.ts';
import {
  fillUrlTemplate,
  templateProblem,
} from '../../../../../src/cli/commands/component/catalog/template.ts';

describe('the catalog', () => {
  it('has valid templates', () => {
    const entries = CATALOG_NAMES.map((name) => findInCatalog(name));
    expect(entries.map((entry) => templateProblem(entry?.url ?? ''))).toEqual(
      CATALOG_NAMES.map(() => undefined),
    );
  });

  it.each([
    ['kubelet', '1.36.4', 'https://dl.k8s.io/release/v1.36.4/bin/linux/arm64/kubelet'],
    [
      'containerd',
      '2.3.4',
      'https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-linux-arm64.tar.gz',
    ],
    ['runc', '1.4.3', 'https://github.com/opencontainers/runc/releases/download/v1.4.3/runc.arm64'],
    [
      'cni-plugins',
      '1.9.1',
      'https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-arm64-v1.9.1.tgz',
    ],
    [
      'crictl',
      '1.36.0',
      'https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-linux-arm64.tar.gz',
    ],
    [
      'node-exporter',
      '1.8.2',
      'https://github.com/prometheus/node_exporter/releases/download/v1.8.2/node_exporter-1.8.2.linux-arm64.tar.gz',
    ],
    [
      'node-problem-detector',
      '1.35.2',
      'https://github.com/kubernetes/node-problem-detector/releases/download/v1.35.2/node-problem-detector-v1.35.2-linux_arm64.tar.gz',
    ],
  ])('knows where %s is published', (name, version, url) => {
    expect(fillUrlTemplate(findInCatalog(name)?.url ?? '', { version, arch: 'arm64' })).toBe(url);
  });

  it('does not know names of Object', () => {
    expect(findInCatalog('constructor')).toBeUndefined();
  });
});

describe('fillUrlTemplate', () => {
  it('fills the URL of the file', () => {
    const values = { version: '1.0.0', arch: 'amd64', url: 'https://example.com/file' } as const;
    expect(fillUrlTemplate('{url}.{version}.{arch}.sha256', values)).toBe(
      'https://example.com/file.1.0.0.amd64.sha256',
    );
  });
});
