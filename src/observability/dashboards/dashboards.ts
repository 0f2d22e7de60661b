/** All dashboards, and the files that Grafana provisions them from. */
import { AGENTS_DASHBOARD } from './agents.ts';
import { CLUSTER_DASHBOARD } from './cluster.ts';
import { FLEET_DASHBOARD } from './fleet.ts';
import { grafanaDashboard } from './grafana.ts';
import { NODES_DASHBOARD } from './nodes.ts';
import type { Dashboard } from './panel.ts';
import { REPAIRS_DASHBOARD } from './repairs.ts';
import { ROLLOUTS_DASHBOARD } from './rollouts.ts';
import { SYNC_DASHBOARD } from './sync.ts';

export const DASHBOARDS: readonly Dashboard[] = [
  FLEET_DASHBOARD,
  CLUSTER_DASHBOARD,
  ROLLOUTS_DASHBOARD,
  REPAIRS_DASHBOARD,
  SYNC_DASHBOARD,
  AGENTS_DASHBOARD,
  NODES_DASHBOARD,
];

/** The texts of the files, by their path from the root of the repository. */
export function dashboardFiles(): readonly (readonly [path: string, text: string])[] {
  return DASHBOARDS.map((dashboard) => [
    `deploy/grafana/${dashboard.uid.replace('kubenode-', '')}.json`,
    `${JSON.stringify(grafanaDashboard(dashboard), undefined, 2)}\n`,
  ]);
}
