import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';

/** Every version that machines can run or roll back to. */
export const kubeletReleases = componentReleases({
  component: 'kubelet',
  url: 'https://artifacts.example.com/kubelet/{version}/linux-{arch}',
  versions: {
    '1.36.3': {
      amd64: '4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a',
      arm64: 'ef2d127de37b942baad06145e54b0c619a1f22327b2ebbcfbec78f5564afe39d',
    },
    '1.36.2': {
      amd64: 'e7f6c011776e8db7cd330b54174fd76f7d0216b612387a5ffcfb81e6f0919683',
      arm64: '7902699be42c8a8e46fbbb4501726517e86b22c56a189f7625a6da49081b2451',
    },
  },
});

export function kubelet({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'The node agent of Kubernetes',
    identity: 'Kubelet',
    artifacts,
    files: [{ path: '/etc/kubernetes/kubelet.yaml', content: CONFIG, onChange: 'Restart' }],
    units: [
      {
        name: 'kubelet',
        exec: {
          argv: [
            '${dir}/kubelet',
            '--config=/etc/kubernetes/kubelet.yaml',
            '--kubeconfig=${identity.kubeconfig}',
          ],
        },
      },
    ],
    probes: [{ name: 'ready', nodeCondition: { type: 'Ready', status: 'True' } }],
    activation: { class: 'Restart' },
  };
}

const CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}}
authorization: {mode: Webhook}
clusterDNS: [10.96.0.10]
# kubenode removes it when every component runs and every readiness gate is True: until then the node gets no pods.
registerWithTaints: [{key: kubenode.dev/not-initialized, effect: NoSchedule}]
`;
