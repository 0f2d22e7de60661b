/** The rules and limits of `rules/`, in every cluster. */
import { DefenderPolicy, type FleetCluster, NodeRemedier } from 'kubenode/constructs';
import { policies, rules } from '../rules/index.ts';

export function declareRules(cluster: FleetCluster): void {
  const chart = cluster.unit('rules');
  for (const [name, spec] of Object.entries(policies)) {
    new DefenderPolicy(chart, `policy-${name}`, { metadata: { name }, spec });
  }
  for (const [name, spec] of Object.entries(rules)) {
    new NodeRemedier(chart, `rule-${name}`, { metadata: { name }, spec });
  }
}
