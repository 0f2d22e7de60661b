/** The fleet program. sync renders its objects from a commit. */
import { DefenderPolicy, Fleet } from 'kubenode/constructs';
import { fleetDefault } from '../rules/fleet-default.ts';
import { clusters } from './clusters.ts';
import { declareComponents, declareMachines } from './machines.ts';
import { fleetPipeline } from './pipelines.ts';

const fleet = new Fleet();
fleet.pipeline('fleet', fleetPipeline);
for (const { name, machines, ...spec } of clusters) {
  const cluster = fleet.cluster(name, spec);
  const metadata = { name: 'fleet-default' };
  new DefenderPolicy(cluster.unit('policies'), 'fleet-default', { metadata, spec: fleetDefault });
  declareMachines(cluster, machines);
  declareComponents(cluster);
}
fleet.synth();
