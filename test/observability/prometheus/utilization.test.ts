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

  it('DAT-07 takes the fullest file system of a disk, and none in memory', async () => {
    const series = {
      [`node_filesystem_avail_bytes${on('10.0.0.1', ',fstype="ext4",mountpoint="/"')}`]: '50x10',
      [`node_filesystem_size_bytes${on('10.0.0.1', ',fstype="ext4",mountpoint="/"')}`]: '100x10',
      [`node_filesystem_avail_bytes${on('10.0.0.1', ',fstype="xfs",mountpoint="/var"')}`]: '20x10',
      [`node_filesystem_size_bytes${on('10.0.0.1', ',fstype="xfs",mountpoint="/var"')}`]: '100x10',
      [`node_filesystem_avail_bytes${on('10.0.0.1', ',fstype="tmpfs",mountpoint="/run"')}`]: '0x10',
      [`node_filesystem_size_bytes${on('10.0.0.1', ',fstype="tmpfs",mountpoint="/run"')}`]: '100x10',
    };
    await expect(evaluate(NODE_USE.disk, series, [[M_1, 0.8]])).resolves.toBeUndefined();
  });

  it('DAT-07 sums what a node receives and sends on real interfaces', async () => {
    const series = {
      [`node_network_receive_bytes_total${on('10.0.0.2', ',device="eth0"')}`]: '0+600x10',
      [`node_network_transmit_bytes_total${on('10.0.0.2', ',device="eth0"')}`]: '0+1200x10',
      [`node_network_receive_bytes_total${on('10.0.0.2', ',device="veth12"')}`]: '0+6000x10',
      [`node_network_transmit_bytes_total${on('10.0.0.2', ',device="veth12"')}`]: '0+6000x10',
    };
    await expect(evaluate(NODE_USE.network, series, [[M_2, 30]])).resolves.toBeUndefined();
  });

  it('DAT-07 has one series for a node while two replicas know different versions', async () => {
    const series = {
      'kubenode_machine_info{node="m-2",pool="general",version="1.36.3",instance="b"}': '1x10',
      [`node_memory_MemAvailable_bytes${on('10.0.0.2')}`]: '25x10',
      [`node_memory_MemTotal_bytes${on('10.0.0.2')}`]: '100x10',
    };
    const count = evaluate(NODE_USE.memory, series, [[M_2, 0.75]]).catch(() =>
      evaluate(NODE_USE.memory, series, [[M_2.replace('1.35.4', '1.36.3'), 0.75]]),
    );
    await expect(count).resolves.toBeUndefined();
  });

  it('notices a value that is another one', async () => {
    const series = {
      [`node_memory_MemAvailable_bytes${on('10.0.0.1')}`]: '25x10',
      [`node_memory_MemTotal_bytes${on('10.0.0.1')}`]: '100x10',
    };
    await expect(evaluate(NODE_USE.memory, series, [[M_1, 0.5]])).rejects.toThrow(/got: .* 7\.5E-01/);
  });
});
