import { describe, expect, it } from 'vitest';
import { drillState } from '../../../../../../src/controllers/hosting/drivers/process/backup/drill-state.ts';
import { createLayout } from '../../../../../../src/local/layout.ts';
import { createProcessSpecs } from '../../../../../../src/local/processes/specs.ts';
import type { LocalClusterState } from '../../../../../../src/local/state.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const CLUSTER: LocalClusterState = {
  name: 'ci',
  port: 6443,
  controllerManagerPort: 10_257,
  schedulerPort: 10_259,
  bindAddress: '0.0.0.0',
  names: ['api.example.com'],
  controllers: true,
  apiServers: { replicas: 2, ports: [1, 2, 3], balancerPorts: [4, 5] },
};
const { settings } = planeRecord();
const state = drillState(CLUSTER, settings, { etcdPort: 7000, port: 7001 });
const specs = createProcessSpecs(state, createLayout('/drill'), (name) => name);

describe('the throw-away control plane of a drill', () => {
  it('HOS-32 is one etcd and one API server, without controllers', () => {
    expect(specs.map(({ id, port }) => `${id} ${port}`)).toEqual(['etcd 7000', 'ci/kube-apiserver 7001']);
  });

  it('HOS-32 listens on the loopback address only, also where the control plane does not, and publishes none', () => {
    const args = specs.flatMap(({ command }) => command.args);
    const external = args.filter((arg) => arg.includes('0.0.0.0') || arg.includes('6443'));
    expect(external).toEqual([]);
    expect(args).toEqual(
      expect.arrayContaining([
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        '--endpoint-reconciler-type=none',
        '--listen-client-urls=https://127.0.0.1:7000',
      ]),
    );
  });

  it('HOS-32 keeps the revision of the backup, which the API server would compact', () => {
    expect(specs[1]?.command.args).toContain('--etcd-compaction-interval=0s');
    expect(settings.apiServer).not.toHaveProperty('etcd-compaction-interval');
  });
});
