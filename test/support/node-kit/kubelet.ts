/** A real kubelet and containerd on a node, for a real API server. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveBinaries } from '../../../src/local/binaries/resolve.ts';
import { formatKubeconfig } from '../../../src/local/pki/kubeconfig.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ApiServerAddress } from '../fault-proxy/upstream.ts';
import { IMAGE } from './image.ts';
import { putFile, putUnit } from './rootfs.ts';

export const KUBELET = '/usr/local/bin/kubelet';

/** Path of the kubelet on the host. */
export async function kubeletBinary(): Promise<string> {
  const { folder } = await resolveBinaries({
    env: process.env,
    programs: ['kubelet'],
    clock: createSystemClock(),
    onStep: showStep,
  });
  return await realpath(join(folder, 'kubelet'));
}

function showStep(step: string): void {
  process.stderr.write(`${step}\n`);
}

export interface KubeletOptions {
  readonly server: ApiServerAddress;
  /** Address of the host for the node: the API server listens there too. */
  readonly gateway: string;
  readonly node: string;
  readonly address: string;
}

export async function putKubelet(root: string, options: KubeletOptions): Promise<void> {
  const { server, gateway, node, address } = options;
  const user = `system:node:${node}`;
  const client = server.certificateFor({ user, groups: ['system:nodes'] });
  const url = new URL(server.url);
  url.hostname = gateway;
  const access = { name: 'cluster', server: url.origin, caPem: server.caPem, user, client };
  await putFile(root, 'etc/kubernetes/kubeconfig', formatKubeconfig([access]), 0o600);
  await putFile(root, 'etc/kubernetes/kubelet.json', JSON.stringify(KUBELET_CONFIGURATION, undefined, 2));
  await putFile(root, 'etc/cni/net.d/10-bridge.conflist', JSON.stringify(NETWORK, undefined, 2));
  await putFile(root, 'etc/containerd/config.toml', CONTAINERD);
  await putUnit(root, 'kubelet.service', unit(node, address));
}

// A node in a container on a shared machine: cgroups, swap and disks belong to the host.
export const KUBELET_CONFIGURATION = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '0%', 'memory.available': '1Mi' },
  failCgroupV1: false,
  failSwapOn: false,
  localStorageCapacityIsolation: false,
  nodeStatusUpdateFrequency: '2s',
  resolvConf: '/dev/null',
  syncFrequency: '10s',
};

export const BRIDGE = 'cni0';

export const NETWORK = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: BRIDGE,
      isGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
};

// The image is imported where pods run: nodes have no registry. restrict_oom_score_adj: without CAP_SYS_RESOURCE no process can lower its score.
export const CONTAINERD = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${IMAGE}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
`;

function unit(node: string, address: string): string {
  return `[Unit]
Description=kubelet
After=test-network.service test-cgroups.service containerd.service
Requires=containerd.service

[Service]
ExecStart=${KUBELET} --config=/etc/kubernetes/kubelet.json --kubeconfig=/etc/kubernetes/kubeconfig --hostname-override=${node} --node-ip=${address}
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`;
}
