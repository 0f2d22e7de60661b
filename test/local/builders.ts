/** The state of a fleet with two clusters. */
import type { FleetState, LocalClusterState } from '../../src/local/state.ts';

export const NOW = new Date('2030-01-01T00:00:00.000Z');
export const HUB = cluster('hub', 16_443);
export const STATE: FleetState = { version: 1, etcdPort: 17_443, clusters: [HUB, cluster('test', 16_444)] };

function cluster(name: string, port: number): LocalClusterState {
  const ports = { port, controllerManagerPort: port + 2000, schedulerPort: port + 3000 };
  return { name, ...ports, bindAddress: '127.0.0.1', names: [], controllers: true };
}
