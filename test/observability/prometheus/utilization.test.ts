/** The real promtool joins metrics of node-exporter with the machines of kubenode; where it is missing these tests are skipped. */
import { describe, expect, it } from 'vitest';
import { NODE_USE, UTILIZATION_GROUP } from '../../../src/observability/prometheus/utilization.ts';
import { expectRecorded, hasPromtool, type Sample } from './promtool.ts';

type Series = Readonly<Record<string, string>>;

const NODES: Series = {
  'node_uname_info{instance="10.0.0.1:9100",nodename="m-1"}': '1x10',
  'node_uname_info{instance="10.0.0.2:9100",nodename="m-2"}': '1x10',
  // Not a machine of kubenode.
  'node_uname_info{instance="10.0.0.9:9100",nodename="other"}': '1x10',
};
const MACHINES: Series = {
  'kubenode_machine_info{node="m-1",pool="gpu",version="1.36.3",instance="a"}': '1x10',
  'kubenode_machine_info{node="m-2",pool="general",version="1.35.4",instance="a"}': '1x10',
  'kubenode_machine_info{node="m-3",pool="general",version="1.35.4",instance="a"}': '1x10',
};
const M_1 = '{node="m-1",pool="gpu",version="1.36.3"}';
const M_2 = '{node="m-2",pool="general",version="1.35.4"}';

async function evaluate(name: string, series: Series, expected: readonly Sample[]): Promise<void> {
  const all = { ...NODES, ...MACHINES, ...series };
  await expectRecorded(
    { groups: [UTILIZATION_GROUP], series: all, interval: '1m', at: '10m' },
    name,
    expected,
  );
}

const on = (address: string, rest = ''): string => `{instance="${address}:9100"${rest}}`;

const idle = (address: string, cpu: number): string =>
  `node_cpu_seconds_total${on(address, `,cpu="${cpu}",mode="idle"`)}`;

const fileSystem = (type: string, path: string, available: number): Series => {
  const labels = on('10.0.0.1', `,fstype="${type}",mountpoint="${path}"`);
  return {
    [`node_filesystem_avail_bytes${labels}`]: `${available}x10`,
    [`node_filesystem_size_bytes${labels}`]: '100x10',
  };
};

/** In bytes a minute. */
const traffic = (device: string, received: number, sent: number): Series => ({
  [`node_network_receive_bytes_total${on('10.0.0.2', `,device="${device}"`)}`]: `0+${received}x10`,
  [`node_network_transmit_bytes_total${on('10.0.0.2', `,device="${device}"`)}`]: `0+${sent}x10`,
});

const memory = (address: string, available: number): Series => ({
  [`node_memory_MemAvailable_bytes${on(address)}`]: `${available}x10`,
  [`node_memory_MemTotal_bytes${on(address)}`]: '100x10',
});

describe.skipIf(!hasPromtool)('DAT-07 the utilization of nodes in a real promtool', () => {
  it('DAT-07 counts the cores of a node that work, with its pool and version', async () => {
    const series = {
      [idle('10.0.0.1', 0)]: '0+60x10',
      [idle('10.0.0.1', 1)]: '0+30x10',
      [idle('10.0.0.2', 0)]: '0+15x10',
      [idle('10.0.0.9', 0)]: '0+15x10',
    };
    await expect(
      evaluate(NODE_USE.cpu, series, [
        [M_1, 0.25],
        [M_2, 0.75],
      ]),
    ).resolves.toBeUndefined();
  });

  it('DAT-07 takes the memory that is not available, also when two jobs scrape a node', async () => {
    const series = {
      [`node_memory_MemAvailable_bytes${on('10.0.0.1', ',job="a"')}`]: '25x10',
      [`node_memory_MemAvailable_bytes${on('10.0.0.1', ',job="b"')}`]: '25x10',
      [`node_memory_MemTotal_bytes${on('10.0.0.1', ',job="a"')}`]: '100x10',
      [`node_memory_MemTotal_bytes${on('10.0.0.1', ',job="b"')}`]: '100x10',
    };
    await expect(evaluate(NODE_USE.memory, series, [[M_1, 0.75]])).resolves.toBeUndefined();
  });

  it('DAT-07 takes the fullest disk of a node: nothing in memory, of a pod or of another machine', async () => {
    const series = {
      ...fileSystem('ext4', '/', 50),
      ...fileSystem('xfs', '/var', 20),
      ...fileSystem('tmpfs', '/run', 0),
      ...fileSystem('nfs4', '/home', 0),
      ...fileSystem('ext4', '/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pvc-1/mount', 0),
    };
    await expect(evaluate(NODE_USE.disk, series, [[M_1, 0.8]])).resolves.toBeUndefined();
  });

  it('DAT-07 sums what a node receives and sends, once: that of a bond is that of its cards', async () => {
    const series = {
      ...traffic('eth0', 600, 1200),
      ...traffic('bond0', 600, 1200),
      ...traffic('bond0.100', 600, 1200),
      ...traffic('veth12', 6000, 6000),
      ...traffic('vxlan.calico', 6000, 6000),
    };
    await expect(evaluate(NODE_USE.network, series, [[M_2, 30]])).resolves.toBeUndefined();
  });

  it('DAT-07 leaves out only the node about whose version two replicas disagree', async () => {
    const series = {
      'kubenode_machine_info{node="m-2",pool="general",version="1.36.3",instance="b"}': '1x10',
      'kubenode_machine_info{node="m-1",pool="gpu",version="1.36.3",instance="b"}': '1x10',
      ...memory('10.0.0.1', 25),
      ...memory('10.0.0.2', 25),
    };
    await expect(evaluate(NODE_USE.memory, series, [[M_1, 0.75]])).resolves.toBeUndefined();
  });

  it('notices a value that is another one', async () => {
    await expect(evaluate(NODE_USE.memory, memory('10.0.0.1', 25), [[M_1, 0.5]])).rejects.toThrow(
      /got: .* 7\.5E-01/,
    );
  });
});
