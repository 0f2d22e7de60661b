/** The controller that follows Nodes of other node autoscalers, where a person asked for it. Our objects that it reads are in the views of the groups before. */
import { PRINCIPAL_EXTERNAL } from '../api/names.ts';
import { EXTERNAL_NODES } from '../observability/metrics/machine.ts';
import { createClaimSource } from './following/karpenter/claim-source.ts';
import { createExternalController } from './following/karpenter/controller.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

export async function createExternalNodesControllers(parts: GroupParts): Promise<ControllerGroup> {
  const gauge = parts.metrics.gauge(EXTERNAL_NODES);
  if (parts.externalNodes !== true) return { controllers: [], views: {} };
  const { connectAs, clock, log, random, watch: metrics } = parts;
  const client = await connectAs(PRINCIPAL_EXTERNAL);
  const source = createClaimSource({ client, clock, log, random, metrics });
  return { controllers: [createExternalController({ source, client, gauge })], views: {} };
}
