/** The configuration of the kubelet. */
import { CONTAINERD_SOCKET } from './containerd-config.ts';

const HEAD = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`;

/** Swap: the host may have some, and its own services use it. Pods do not. */
export const KUBELET_CONFIG = `${HEAD}authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: "\${cluster.caFile}"}
authorization: {mode: Webhook}
clusterDNS: ["\${param.clusterDNS}"]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://${CONTAINERD_SOCKET}
failSwapOn: false
healthzBindAddress: 127.0.0.1
healthzPort: \${port.healthz}
memorySwap: {swapBehavior: NoSwap}
# kubenode removes it when every component runs and every readiness gate is True: until then the node gets no pods.
registerWithTaints: [{key: kubenode.dev/not-initialized, effect: NoSchedule}]
resolvConf: "\${param.resolvConf}"
`;

/** Differs from host to host. Further files of this folder may change more: the last one has the final word. */
export const KUBELET_HOST_CONFIG = `${HEAD}cgroupDriver: \${param.cgroupDriver}
failCgroupV1: \${param.failCgroupV1}
`;

/** Without it a boot starts both at once, and the kubelet ends because containerd does not answer yet. */
export const KUBELET_UNIT = `[Unit]
After=containerd.service
Wants=containerd.service
`;
