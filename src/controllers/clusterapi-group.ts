/** The controller that follows Cluster API, where a person asked for it. Machines and Nodes are in the views of the Defender. */
import { PRINCIPAL_CLUSTERAPI } from '../api/names.ts';
import { FOREIGN_MACHINES } from '../observability/metrics/machine.ts';
import { createClusterApiController } from './clusterapi/controller.ts';
import { createForeignSource } from './clusterapi/observe/foreign-source.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

export async function createClusterApiControllers(parts: GroupParts): Promise<ControllerGroup> {
  const gauge = parts.metrics.gauge(FOREIGN_MACHINES);
  if (parts.clusterApi !== true) return { controllers: [], views: {} };
  const { connectAs, clock, log, random, watch: metrics } = parts;
  const client = await connectAs(PRINCIPAL_CLUSTERAPI);
  const source = createForeignSource({ client, clock, log, random, metrics });
  return { controllers: [createClusterApiController({ source, client, gauge })], views: {} };
}
