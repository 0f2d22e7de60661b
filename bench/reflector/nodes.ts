/** Nodes like those that a kubelet in a cloud writes, about 6 KB with the fields that the API server adds. */
import type { Client } from '../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';

export const NODES: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
export const SENT = 'bench.kubenode.dev/sent';

const CONDITIONS = [
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'KernelDeadlock',
  'ReadonlyFilesystem',
  'NetworkUnavailable',
  'Ready',
];
const AT_ONCE = 16;

export async function createNodes(client: Client, count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await client.create(NODES, nodeOf(index), { fieldManager: 'kubelet' });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export function nodeOf(index: number): KubeObject {
  const name = `node-${String(index).padStart(5, '0')}.eu-central-1.compute.internal`;
  const zone = `eu-central-1${'abc'[index % 3]}`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm7i.4xlarge',
        'topology.kubernetes.io/region': 'eu-central-1',
        'topology.kubernetes.io/zone': zone,
        'kubenode.dev/machine-set': `workers-${index % 20}`,
        'example.com/rack': `rack-${index % 200}`,
        'example.com/team': 'platform-infrastructure',
        'example.com/cost-center': `cost-center-${index % 40}`,
        'beta.kubernetes.io/instance-type': 'm7i.4xlarge',
        'failure-domain.beta.kubernetes.io/zone': zone,
      },
      annotations: {
        'node.alpha.kubernetes.io/ttl': '300',
        'example.com/purpose':
          'runs the workloads of the platform team and of other teams that requested capacity',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
        'csi.volume.kubernetes.io/nodeid': `{"ebs.csi.aws.com":"i-${String(index).padStart(17, '0')}"}`,
      },
    },
    spec: {
      podCIDR: `10.${index >> 8}.${index & 255}.0/24`,
      providerID: `aws:///${zone}/i-${String(index).padStart(17, '0')}`,
    },
    status: statusOf(name, index),
  };
}

function statusOf(name: string, index: number): Readonly<Record<string, unknown>> {
  const amounts = {
    cpu: '16',
    memory: '64912116Ki',
    pods: '110',
    'ephemeral-storage': '103079844Ki',
    'hugepages-2Mi': '0',
  };
  const id = `ec2${index.toString(16).padStart(29, '0')}`;
  return {
    addresses: [
      { type: 'InternalIP', address: `10.${index >> 8}.${index & 255}.1` },
      { type: 'Hostname', address: name },
    ],
    capacity: amounts,
    allocatable: amounts,
    conditions: CONDITIONS.map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: `Kubelet${type}IsHealthy`,
      message: `kubelet has no problem to report: condition ${type} is healthy on this node`,
      lastHeartbeatTime: `2026-01-01T00:${String(index % 60).padStart(2, '0')}:00Z`,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    nodeInfo: {
      machineID: id,
      systemUUID: id,
      bootID: `b${id}`,
      kernelVersion: '6.1.119-129.201.amzn2023.x86_64',
      osImage: 'Amazon Linux 2023.6.20250115',
      containerRuntimeVersion: 'containerd://1.7.25',
      kubeletVersion: 'v1.36.3',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: Array.from({ length: 8 }, (_, image) => ({
      names: [`registry.example.com/platform/component-${image}@sha256:${'0'.repeat(63)}${image}`],
      sizeBytes: 100_000_000 + image,
    })),
  };
}
