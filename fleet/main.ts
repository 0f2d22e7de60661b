/** The fleet program. `npm run synth` writes its objects to rendered/; sync renders the same objects from a commit. */
import { DefenderPolicy, Fleet, type FleetCluster, NodeRemedier } from 'kubenode/constructs';
import { policies, rules } from '../rules/index.ts';
import { declareAddons } from './addons/index.ts';
import { clusters } from './clusters.ts';
import { declareComponents, declareMachines } from './machines.ts';
import { fleetPipeline } from './pipelines.ts';

const fleet = new Fleet();
fleet.pipeline('fleet', fleetPipeline);
for (const { name, machines, apiServer, ...spec } of clusters) {
  const cluster = fleet.cluster(name, spec);
  declareMachines(cluster, machines);
  declareComponents(cluster);
  declareAddons(cluster, apiServer);
  declareRules(cluster);
}
fleet.synth();

function declareRules(cluster: FleetCluster): void {
  const chart = cluster.unit('rules');
  for (const [name, spec] of Object.entries(policies)) {
    new DefenderPolicy(chart, `policy-${name}`, { metadata: { name }, spec });
  }
  for (const [name, spec] of Object.entries(rules)) {
    new NodeRemedier(chart, `rule-${name}`, { metadata: { name }, spec });
  }
}
