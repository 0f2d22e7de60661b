/** Builds the throw-away control plane of a drill. Pure. */
import { LOOPBACK } from '../../../../../local/processes/commands.ts';
import type { FleetState, LocalClusterState, PlaneSettings } from '../../../../../local/state.ts';
import { DRILL_FLAGS } from '../../etcd/drill/check.ts';

/** Returns the control plane as it is, on other ports, with one API server. Other machines do not reach it, wherever the control plane listens. */
export function drillState(
  cluster: LocalClusterState,
  settings: PlaneSettings,
  { etcdPort, port }: { readonly etcdPort: number; readonly port: number },
): FleetState {
  const { apiServers: _, ...single } = cluster;
  const plane = { ...settings, apiServer: { ...settings.apiServer, ...DRILL_FLAGS } };
  const own = { ...single, port, bindAddress: LOOPBACK, names: [], controllers: false, plane };
  return { version: 1, etcdPort, clusters: [own] };
}
