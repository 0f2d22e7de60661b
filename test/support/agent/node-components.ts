/** The components of a real node: config for the containerd that the node has, and a kubelet. */
import { TAINT_EFFECT, TAINT_NOT_INITIALIZED } from '../../../src/api/names.ts';
import { BRIDGE, CONTAINERD, KUBELET_CONFIGURATION, NETWORK } from '../node-kit/kubelet.ts';

export const KUBELET_CONFIG = '/etc/kubernetes/kubelet.json';
/** As the example fleet configures it. */
const CONFIGURATION = {
  ...KUBELET_CONFIGURATION,
  registerWithTaints: [{ key: TAINT_NOT_INITIALIZED, effect: TAINT_EFFECT }],
};
const CONTAINERD_CONFIG = '/etc/containerd/config.toml';

/** Adopts a unit of Debian, without touching its process. */
export function sshComponent(): object {
  return {
    component: 'sshd',
    version: '1.0.0',
    activation: { class: 'None' },
    units: [{ name: 'ssh', existing: true }],
    probes: [{ name: 'unit', unit: { name: 'ssh' }, periodSeconds: 1 }],
    commitAfterSeconds: 1,
  };
}

export function containerdComponent(version: string, comment = ''): object {
  return {
    component: 'containerd',
    version,
    files: [
      { path: CONTAINERD_CONFIG, content: `${comment}${CONTAINERD}` },
      {
        path: '/etc/cni/net.d/10-bridge.conflist',
        content: JSON.stringify(NETWORK, undefined, 2),
        onChange: 'None',
      },
    ],
    units: [
      {
        name: 'containerd',
        existing: true,
        dropIns: [{ name: 'kubenode', content: '[Service]\nLimitNOFILE=1048576\n' }],
      },
    ],
    stateDirectories: ['/run/netns', '/var/lib/cni'],
    networkInterfaces: [BRIDGE],
    probes: [{ name: 'health', grpc: { path: '/run/containerd/containerd.sock' }, periodSeconds: 1 }],
    commitAfterSeconds: 2,
  };
}

export interface KubeletArtifact {
  readonly url: string;
  readonly sha256: string;
}

export function kubeletComponent(
  version: string,
  { url, sha256 }: KubeletArtifact,
  fields: object = {},
  more: readonly string[] = [],
): object {
  const flags = [
    ...more,
    `--config=${KUBELET_CONFIG}`,
    '--kubeconfig=${identity.kubeconfig}',
    '--hostname-override=${machine.name}',
  ];
  return {
    component: 'kubelet',
    version,
    identity: 'Kubelet',
    ports: [{ name: 'healthz', port: 10_248 }],
    artifacts: [{ os: 'linux', arch: 'any', url, sha256, format: 'Raw', install: [] }],
    files: [{ path: KUBELET_CONFIG, content: JSON.stringify(CONFIGURATION, undefined, 2), mode: '0600' }],
    units: [
      {
        name: 'kubelet',
        exec: { argv: ['${dir}/kubelet', ...flags] },
        restart: { policy: 'Always', delaySeconds: 1, maxPerMinute: 10 },
        // Without it a boot starts both at once, the kubelet ends because containerd is not ready, and a version in
        // probation is blamed for the restart.
        dropIns: [{ name: 'order', content: '[Unit]\nAfter=containerd.service\nWants=containerd.service\n' }],
      },
    ],
    stateDirectories: ['/var/lib/kubelet'],
    probes: [{ name: 'healthz', http: { port: 'healthz', path: '/healthz' }, periodSeconds: 1 }],
    commitAfterSeconds: 5,
    dependsOn: [{ component: 'containerd' }],
    ...fields,
  };
}
