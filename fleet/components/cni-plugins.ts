import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';

/** The folder in which containerd looks for them: fleet/components/containerd-config.ts. */
export const CNI_PROGRAMS = '/opt/cni/bin';

/** What the network of fleet/components/containerd-config.ts uses, and what CNI DaemonSets such as flannel expect on the host. */
const PROGRAMS = ['bandwidth', 'bridge', 'firewall', 'host-local', 'loopback', 'portmap', 'ptp', 'tuning'];

export const cniPluginsReleases = componentReleases({
  component: 'cni-plugins',
  url: 'https://github.com/containernetworking/plugins/releases/download/v{version}/cni-plugins-linux-{arch}-v{version}.tgz',
  format: 'TarGz',
  install: PROGRAMS.map((name) => ({ from: name, to: `${CNI_PROGRAMS}/${name}` })),
  versions: {
    '1.9.1': {
      amd64: 'b98f74a0f8522f0a83867178729c1aa70f2158f90c45a2ca8fa791db1c76b303',
      arm64: '56171987d3947707c3563db2f4001bccaf50fd63468611b9f3cbecb1375ee7ec',
    },
    '1.8.0': {
      amd64: 'ab3bda535f9d90766cccc90d3dddb5482003dd744d7f22bcf98186bf8eea8be6',
      arm64: '57ce466fc3b79db1f19b8f4c63e07a1112306efa53c94fe810a2150dd9e07ddb',
    },
  },
});

/** Started for each new pod only, so that an update disturbs none. */
export function cniPlugins({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'Connects pods to the network',
    artifacts,
    stateDirectories: ['/var/lib/cni'],
    // Without CNI_COMMAND a plug-in prints its version.
    probes: [
      {
        name: 'starts',
        exec: { argv: [`${CNI_PROGRAMS}/bridge`] },
        periodSeconds: 60,
        timeoutSeconds: 10,
      },
    ],
    activation: { class: 'None' },
    commitAfterSeconds: 5,
  };
}
