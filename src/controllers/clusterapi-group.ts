/** The controllers that work with Cluster API, where a person asked for it. Our objects that they read are in the views of the groups before. */
import { PRINCIPAL_CLUSTERAPI } from '../api/names.ts';
import { FOREIGN_MACHINES } from '../observability/metrics/machine.ts';
import { createClusterApiController } from './following/clusterapi/controller.ts';
import { createDisruptionController } from './following/clusterapi/disruption/controller.ts';
import { createConfigSource } from './following/clusterapi/observe/config-source.ts';
import { createForeignSource } from './following/clusterapi/observe/foreign-source.ts';
import { createRemediationController } from './following/clusterapi/remediation/controller.ts';
import { createRemediationSource } from './following/clusterapi/remediation/source.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

export async function createClusterApiControllers(parts: GroupParts): Promise<ControllerGroup> {
  const gauge = parts.metrics.gauge(FOREIGN_MACHINES);
  if (parts.clusterApi !== true) return { controllers: [], views: {} };
  const { connectAs, management, clock, log, random, watch: metrics } = parts;
  const own = await connectAs(PRINCIPAL_CLUSTERAPI);
  const client = management?.client ?? own;
  const options = { client, cluster: management?.cluster, clock, log, random, metrics };
  const source = createForeignSource(options);
  const configs = parts.updateExtension === true ? createConfigSource(options) : undefined;
  const controllers = [
    createClusterApiController({ source, configs, client: own, gauge }),
    createDisruptionController({ source, client }),
    createRemediationController({ source: createRemediationSource(options), theirs: source, client }),
  ];
  return { controllers, views: {} };
}
