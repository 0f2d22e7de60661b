/** The components whose publishers are known: where their files, checksums and versions are published. */

export type VersionIndex =
  /** Releases of a GitHub repository: `owner/name`. */
  | { readonly kind: 'GitHub'; readonly repository: string }
  /** `stable.txt` of dl.k8s.io, and one such file for each minor version. */
  | { readonly kind: 'Kubernetes' };

export interface CatalogEntry {
  /** URL template of the files. */
  readonly url: string;
  /** URL template of the checksum file. Undefined: the publisher has none. */
  readonly checksums?: string;
  /** URL template of the signature of a file. It is reported and not checked. Undefined: none is known. */
  readonly signature?: string;
  readonly format: 'Raw' | 'TarGz';
  /** The programs in the archive, below the folder of the version. */
  readonly programs?: readonly string[];
  readonly index: VersionIndex;
}

const GITHUB = 'https://github.com';
const BESIDE = '{url}.sha256';

const CATALOG: Readonly<Record<string, CatalogEntry>> = {
  'cni-plugins': {
    url: `${GITHUB}/containernetworking/plugins/releases/download/v{version}/cni-plugins-linux-{arch}-v{version}.tgz`,
    checksums: BESIDE,
    format: 'TarGz',
    programs: ['bridge', 'host-local', 'loopback', 'portmap'],
    index: { kind: 'GitHub', repository: 'containernetworking/plugins' },
  },
  containerd: {
    url: `${GITHUB}/containerd/containerd/releases/download/v{version}/containerd-{version}-linux-{arch}.tar.gz`,
    checksums: '{url}.sha256sum',
    format: 'TarGz',
    programs: ['bin/containerd', 'bin/containerd-shim-runc-v2', 'bin/ctr'],
    index: { kind: 'GitHub', repository: 'containerd/containerd' },
  },
  crictl: {
    url: `${GITHUB}/kubernetes-sigs/cri-tools/releases/download/v{version}/crictl-v{version}-linux-{arch}.tar.gz`,
    checksums: BESIDE,
    format: 'TarGz',
    programs: ['crictl'],
    index: { kind: 'GitHub', repository: 'kubernetes-sigs/cri-tools' },
  },
  kubelet: {
    url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/kubelet',
    checksums: BESIDE,
    signature: '{url}.sig',
    format: 'Raw',
    index: { kind: 'Kubernetes' },
  },
  'node-exporter': {
    url: `${GITHUB}/prometheus/node_exporter/releases/download/v{version}/node_exporter-{version}.linux-{arch}.tar.gz`,
    checksums: `${GITHUB}/prometheus/node_exporter/releases/download/v{version}/sha256sums.txt`,
    format: 'TarGz',
    programs: ['node_exporter-{version}.linux-{arch}/node_exporter'],
    index: { kind: 'GitHub', repository: 'prometheus/node_exporter' },
  },
  // Its publisher prints checksums in the notes of a release only.
  'node-problem-detector': {
    url: `${GITHUB}/kubernetes/node-problem-detector/releases/download/v{version}/node-problem-detector-v{version}-linux_{arch}.tar.gz`,
    format: 'TarGz',
    programs: ['bin/node-problem-detector'],
    index: { kind: 'GitHub', repository: 'kubernetes/node-problem-detector' },
  },
  runc: {
    url: `${GITHUB}/opencontainers/runc/releases/download/v{version}/runc.{arch}`,
    checksums: `${GITHUB}/opencontainers/runc/releases/download/v{version}/runc.sha256sum`,
    signature: '{url}.asc',
    format: 'Raw',
    index: { kind: 'GitHub', repository: 'opencontainers/runc' },
  },
};

export function findInCatalog(component: string): CatalogEntry | undefined {
  return Object.hasOwn(CATALOG, component) ? CATALOG[component] : undefined;
}

export const CATALOG_NAMES: readonly string[] = Object.keys(CATALOG);
