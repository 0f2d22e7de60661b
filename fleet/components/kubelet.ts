import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';
import { CLUSTER_DNS } from '../network.ts';
import { KUBELET_CONFIG, KUBELET_HOST_CONFIG, KUBELET_UNIT } from './kubelet-config.ts';

/** Every version that machines can run or roll back to. */
export const kubeletReleases = componentReleases({
  component: 'kubelet',
  url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/kubelet',
  versions: {
    '1.36.3': {
      amd64: '46707a53209f826ad0f0d62371ac69cd00e78fd9a8176cf5f6f87f18f7f8b718',
      arm64: '57205a5daf5883873d87b4914e1e00bdd7707acd075714788cfb0fc1f60bc414',
    },
    '1.36.2': {
      amd64: '3ba68cb4f0906053c08ab843131d5cec559cf8c718dbd679950a078b306abbb4',
      arm64: 'b0b45db96f0e6bf996780b8a2b8d868bf538dc7c3a60cf604cf0ea2d65c24b06',
    },
  },
});

export function kubelet({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'The node agent of Kubernetes',
    identity: 'Kubelet',
    parameters: [
      {
        name: 'cgroupDriver',
        default: 'systemd',
        description: 'systemd, or cgroupfs on a host without systemd',
      },
      { name: 'failCgroupV1', default: 'true', description: 'false on hosts with cgroup v1' },
      {
        name: 'clusterDNS',
        default: CLUSTER_DNS,
        description: 'The address of the Service of CoreDNS',
      },
      {
        name: 'resolvConf',
        default: '/etc/resolv.conf',
        description: '/run/systemd/resolve/resolv.conf on hosts with systemd-resolved',
      },
    ],
    ports: [{ name: 'healthz', port: 10_248 }],
    stateDirectories: ['/var/lib/kubelet'],
    artifacts,
    files: [
      { path: '/etc/kubernetes/kubelet.yaml', content: KUBELET_CONFIG },
      { path: '/etc/kubernetes/kubelet.conf.d/10-host.conf', content: KUBELET_HOST_CONFIG },
    ],
    units: [
      {
        name: 'kubelet',
        exec: {
          argv: [
            '${dir}/kubelet',
            '--config=/etc/kubernetes/kubelet.yaml',
            '--config-dir=/etc/kubernetes/kubelet.conf.d',
            '--kubeconfig=${identity.kubeconfig}',
            '--hostname-override=${machine.name}',
          ],
        },
        dropIns: [{ name: '10-kubenode', content: KUBELET_UNIT }],
      },
    ],
    probes: [
      { name: 'healthz', http: { port: 'healthz', path: '/healthz' } },
      { name: 'ready', nodeCondition: { type: 'Ready', status: 'True' } },
    ],
    activation: { class: 'Restart' },
    // The first minor version of Kubernetes that requires containerd 2.
    dependsOn: [{ component: 'containerd', minVersion: '2.0.0' }, { component: 'node-tuning' }],
  };
}
