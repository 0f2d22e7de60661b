import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';
import {
  BRIDGE,
  CONTAINERD_CONFIG,
  CONTAINERD_SOCKET,
  CONTAINERD_UNIT,
  NETWORK_CONFIG,
  NETWORK_TEMPLATE,
} from './containerd-config.ts';

const PROGRAMS = ['containerd', 'containerd-shim-runc-v2', 'ctr'];

export const containerdReleases = componentReleases({
  component: 'containerd',
  url: 'https://github.com/containerd/containerd/releases/download/v{version}/containerd-{version}-linux-{arch}.tar.gz',
  format: 'TarGz',
  install: PROGRAMS.map((name) => ({ from: `bin/${name}`, to: `/usr/local/bin/${name}` })),
  versions: {
    '2.3.4': {
      amd64: '9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168',
      arm64: 'a985fbb7e18fc0362d31a055338f5d7b0e087a3e27f14c70d1c5965399a29f95',
    },
    '2.3.3': {
      amd64: 'ebf6e710056312628eaf6fb4a1c32f0a4ae5f812568321be4029389d66fc7c7c',
      arm64: '9cc708f13c31588a2fbdbd13553d963356e990d50e9b95a2d6120f4ff2067910',
    },
  },
});

export function containerd({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'Runs containers',
    parameters: [
      {
        name: 'systemdCgroup',
        default: 'true',
        description: 'true when cgroupDriver of the kubelet is systemd, else false',
      },
      {
        name: 'pauseImage',
        default: 'registry.k8s.io/pause:3.10.1',
        description: 'Image of the sandbox of a pod',
      },
    ],
    artifacts,
    // /run/netns has the networks of pods.
    stateDirectories: ['/var/lib/containerd', '/run/containerd', '/run/netns', '/opt/containerd', '/etc/cni'],
    networkInterfaces: [BRIDGE],
    files: [
      { path: '/etc/containerd/config.toml', content: CONTAINERD_CONFIG },
      { path: NETWORK_TEMPLATE, content: NETWORK_CONFIG },
    ],
    units: [
      {
        name: 'containerd',
        exec: { argv: ['${dir}/bin/containerd', '--config=/etc/containerd/config.toml'] },
        dropIns: [{ name: '10-kubenode', content: CONTAINERD_UNIT }],
      },
    ],
    probes: [{ name: 'health', grpc: { path: CONTAINERD_SOCKET } }],
    activation: { class: 'Restart' },
    commitAfterSeconds: 30,
    dependsOn: [{ component: 'cni-plugins' }, { component: 'node-tuning' }, { component: 'runc' }],
  };
}
