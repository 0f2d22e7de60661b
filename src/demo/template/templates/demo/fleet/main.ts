/** The fleet program. sync renders its objects from a commit. */
import { DefenderPolicy, Fleet, FleetPolicy, NodeRemedier } from 'kubenode/constructs';
import { deadMachine } from '../rules/dead-machine.ts';
import { fleetDefault } from '../rules/fleet-default.ts';
import { kernelHang } from '../rules/kernel-hang.ts';
import { kubeletSilent } from '../rules/kubelet-silent.ts';
import { clusters } from './clusters.ts';
import { fleetLimits } from './limits.ts';
import { declareComponents, declareMachines } from './machines.ts';
import { fleetPipeline } from './pipelines.ts';

const fleet = new Fleet();
fleet.pipeline('fleet', fleetPipeline);
new FleetPolicy(fleet.hub('limits'), 'fleet', { metadata: { name: 'fleet' }, spec: fleetLimits });
for (const { name, machines, zones, ...spec } of clusters) {
  const cluster = fleet.cluster(name, spec);
  const rules = cluster.unit('rules');
  new DefenderPolicy(rules, 'fleet-default', { metadata: { name: 'fleet-default' }, spec: fleetDefault });
  new NodeRemedier(rules, 'dead-machine', { metadata: { name: 'dead-machine' }, spec: deadMachine });
  new NodeRemedier(rules, 'kernel-hang', { metadata: { name: 'kernel-hang' }, spec: kernelHang });
  new NodeRemedier(rules, 'kubelet-silent', { metadata: { name: 'kubelet-silent' }, spec: kubeletSilent });
  declareMachines(cluster, machines, zones);
  declareComponents(cluster);
}
fleet.synth();
