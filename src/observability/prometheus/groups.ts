/** Groups the recording rules and alerts by where their processes run: a hub may be a cluster too, and loads both files. */
import { CLUSTER_ALERTS } from '../alerts/cluster-alerts.ts';
import { HOSTING_ALERTS, SYNC_ALERTS } from '../alerts/hub-alerts.ts';
import { sloGroup } from '../slos/burn-rates.ts';
import type { RuleScope } from '../slos/slo.ts';
import { SLOS } from '../slos/slos.ts';
import { COMPONENT_GROUP, RELEASE_GROUP } from './delivery.ts';
import type { RuleGroup } from './rule.ts';
import { UTILIZATION_GROUP } from './utilization.ts';

export const RULE_GROUPS: Readonly<Record<RuleScope, readonly RuleGroup[]>> = {
  cluster: [
    { name: 'kubenode-cluster', recordings: [], alerts: CLUSTER_ALERTS },
    COMPONENT_GROUP,
    UTILIZATION_GROUP,
    ...slosOf('cluster'),
  ],
  hub: [
    { name: 'kubenode-sync', recordings: [], alerts: SYNC_ALERTS },
    { name: 'kubenode-hosting', recordings: [], alerts: HOSTING_ALERTS },
    RELEASE_GROUP,
    ...slosOf('hub'),
  ],
};

function slosOf(scope: RuleScope): readonly RuleGroup[] {
  return SLOS.filter((slo) => slo.scope === scope).map(sloGroup);
}
