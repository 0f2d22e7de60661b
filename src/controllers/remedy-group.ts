/** The controllers of NodeRemediers and their jobs, the facts that both read, and the views that only they need. */
import {
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../api/generated/resources.ts';
import {
  MANAGER_REMEDY,
  NAMESPACE_OF_NODE_LEASES,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../api/names.ts';
import { createTransform } from '../kube/cache/trim.ts';
import { createView, type View } from '../kube/cache/view.ts';
import type { Views } from '../kube/controller/views.ts';
import { LEASES } from '../kube/leader/record.ts';
import { NODES } from '../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import { NODE_EVENTS, NODE_EVENTS_SELECTION } from '../rules/live/fact-views.ts';
import { createLiveFacts } from '../rules/live/live-facts.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createRemedyController } from './remedy/controller/controller.ts';
import { createRemedyJobController } from './remedyjob/controller.ts';
import { registerRemedyMetrics } from './remedyjob/metrics.ts';

export async function createRemedyControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, skewSeconds, random, log, watch, metrics, grants, views } = parts;
  const shared = { clock, random, log, client: await connectAs(PRINCIPAL_REMEDY), metrics: watch };
  const rules = createView({ ...shared, resource: NODE_REMEDIERS, managers: [MANAGER_REMEDY] });
  const events = createView({ ...shared, resource: NODE_EVENTS, ...NODE_EVENTS_SELECTION });
  const nodeLeases = createView({
    ...shared,
    resource: LEASES,
    namespace: NAMESPACE_OF_NODE_LEASES,
    transform: createTransform(['metadata.ownerReferences', 'spec.holderIdentity']),
  });
  const facts = createLiveFacts({
    clock,
    skewSeconds,
    views: {
      machines: viewOf(views, MACHINES),
      nodes: viewOf(views, NODES),
      jobs: viewOf(views, REMEDY_OPERATION_JOBS),
      events,
      agentLeases: viewOf(views, LEASES),
      nodeLeases,
      components: viewOf(views, MACHINE_COMPONENTS),
      maintenance: viewOf(views, MAINTENANCE_EVENTS),
    },
  });
  return {
    controllers: [
      createRemedyController({ facts, grants }),
      createRemedyJobController({
        facts,
        grants,
        client: await connectAs(PRINCIPAL_REMEDYJOB),
        metrics: registerRemedyMetrics(metrics),
      }),
    ],
    // No controller reads the Leases of Nodes, and those of agents have the name of the kind.
    views: { [NODE_REMEDIERS.kind]: rules, [NODE_EVENTS.kind]: events, NodeLease: nodeLeases },
  };
}

function viewOf<T extends KubeObject>(views: Views, { kind }: Resource<T>): View<T> {
  const view = views[kind];
  if (!view) throw new Error(`the controllers of NodeRemediers need the view of ${kind} of another group`);
  // The view of this kind holds objects of this type.
  return view as unknown as View<T>;
}
