/** A real kube-proxy on a test node, of the version of its API server: it makes Services reachable, from pods and at node ports. */
import { fileURLToPath } from 'node:url';
import { CONTROL_PLANE_VERSION } from '../../../../src/local/binaries/versions.ts';
import { formatKubeconfig } from '../../../../src/local/pki/kubeconfig.ts';
import type { ApiServer } from '../../control-plane-server.ts';
import { builtProgram, type GoProgram, isBuilt, whyNotBuilt } from '../../node-kit/go-program.ts';
import { putFile, putUnit } from '../../node-kit/rootfs.ts';

const PROGRAM = '/usr/local/bin/kube-proxy';
const USER = 'system:kube-proxy';

const KUBE_PROXY: GoProgram = {
  program: 'kube-proxy',
  version: CONTROL_PLANE_VERSION,
  source: fileURLToPath(new URL('./kube-proxy', import.meta.url)),
  settings: [],
};

/** Returns the mount of the program for a node. It is built once for each machine, which takes minutes of CPU. */
export async function kubeProxyBind(): Promise<readonly [outside: string, inside: string]> {
  return [await builtProgram(KUBE_PROXY), PROGRAM];
}

/** Why this machine has none and does not build one. */
export async function noKubeProxyReason(): Promise<string | undefined> {
  if (process.env['CI'] !== 'true' || (await isBuilt(KUBE_PROXY))) return await whyNotBuilt(KUBE_PROXY);
  return 'to build kube-proxy takes minutes that CI has not: npm run test:nodes -- hosting builds it';
}

/** Writes its configuration and its unit before the node boots. */
export async function putKubeProxy(
  root: string,
  { server, gateway, node }: { readonly server: ApiServer; readonly gateway: string; readonly node: string },
): Promise<void> {
  const url = new URL(server.url);
  url.hostname = gateway;
  const client = server.certificateFor({ user: USER, groups: [] });
  const access = { name: 'hub', server: url.origin, caPem: server.caPem, user: USER, client };
  await putFile(root, 'etc/kubernetes/kube-proxy.kubeconfig', formatKubeconfig([access]), 0o600);
  await putFile(root, 'etc/kubernetes/kube-proxy.json', JSON.stringify(configuration(node), undefined, 2));
  await putUnit(root, 'kube-proxy.service', UNIT);
}

function configuration(node: string): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    hostnameOverride: node,
    clientConnection: { kubeconfig: '/etc/kubernetes/kube-proxy.kubeconfig' },
    // Pods of one bridge answer each other without passing the node, unless the request comes from the node.
    iptables: { masqueradeAll: true, minSyncPeriod: '0s' },
    // The table of connections belongs to the host.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  };
}

const UNIT = `[Unit]
Description=kube-proxy
After=test-network.service

[Service]
ExecStart=${PROGRAM} --config=/etc/kubernetes/kube-proxy.json
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`;
