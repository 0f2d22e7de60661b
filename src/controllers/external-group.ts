/** The controllers that follow Nodes of other node autoscalers, where a person asked for them. Our objects that they read are in the views of the groups before. */
import { PRINCIPAL_EXTERNAL } from '../api/names.ts';
import type { Controller } from '../kube/controller/controller.ts';
import { EXTERNAL_NODES } from '../observability/metrics/machine.ts';
import { createClaimSource } from './following/karpenter/claim-source.ts';
import { createExternalController } from './following/karpenter/controller.ts';
import { createNodeGroupController } from './following/nodegroup/controller.ts';
import type { FollowGauge } from './following/status.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

export async function createExternalNodesControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, log, random, watch: metrics, externalNodes, nodeGroups: selector } = parts;
  const gauge = parts.metrics.gauge(EXTERNAL_NODES);
  if (externalNodes !== true && selector === undefined) return { controllers: [], views: {} };
  const client = await connectAs(PRINCIPAL_EXTERNAL);
  const controllers: Controller[] = [];
  if (externalNodes === true) {
    const source = createClaimSource({ client, clock, log, random, metrics });
    controllers.push(createExternalController({ source, client, gauge: gaugeOf('NodeClaim') }));
  }
  if (selector !== undefined) {
    controllers.push(createNodeGroupController({ selector, client, gauge: gaugeOf('Node') }));
  }
  return { controllers, views: {} };

  function gaugeOf(kind: 'NodeClaim' | 'Node'): FollowGauge {
    return { set: ({ state }, value) => gauge.set({ kind, state }, value) };
  }
}
