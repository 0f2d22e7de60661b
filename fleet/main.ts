/** The fleet program. `npm run synth` writes its objects to rendered/; sync renders the same objects from a commit. */
import { Fleet } from 'kubenode/constructs';
import { declareAddons } from './addons/index.ts';
import { clusters } from './clusters.ts';
import { declareFleetLimits } from './limits.ts';
import { declareMachines } from './machines.ts';
import { fleetPipeline } from './pipelines.ts';
import { declareComponents } from './rollout.ts';
import { declareRules } from './rules.ts';

const fleet = new Fleet();
fleet.pipeline('fleet', fleetPipeline);
declareFleetLimits(fleet);
for (const { name, apiServer, ...spec } of clusters) {
  const cluster = fleet.cluster(name, spec);
  declareMachines(cluster);
  declareComponents(cluster);
  declareAddons(cluster, apiServer);
  declareRules(cluster);
}
fleet.synth();
