/** The views that facts are read from. */

import type {
  Machine,
  MachineComponent,
  MaintenanceEvent,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import { NAMESPACE_OF_NODE_EVENTS } from '../../api/names.ts';
import { MAX_VIEW_AGE_MS, staleReason } from '../../kube/cache/freshness.ts';
import type { View } from '../../kube/cache/view.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { ViewProblems } from '../facts/reading/snapshot.ts';

export type FactView<T extends KubeObject = KubeObject> = Pick<View<T>, 'store'> & {
  readonly reflector: Pick<View<T>['reflector'], 'freshness'>;
};

export interface FactViews {
  /** The Machines, with `status.facts` and `status.faults`. */
  readonly machines: FactView<Machine>;
  readonly nodes: FactView;
  readonly jobs: FactView<RemedyOperationJob>;
  /** The Events that NODE_EVENTS and NODE_EVENTS_SELECTION select. */
  readonly events: FactView;
  /** Leases in the namespace of the agents. */
  readonly agentLeases: FactView;
  /** Leases in NAMESPACE_OF_NODE_LEASES. Without them the kubelet is as old as its heartbeat in the Node, which is one every 5 minutes. */
  readonly nodeLeases?: FactView;
  /** The MachineComponents. Without them the version of a component is unknown. */
  readonly components?: FactView<MachineComponent>;
  /** The MaintenanceEvents. Without them it is unknown what is announced. */
  readonly maintenance?: FactView<MaintenanceEvent>;
}

/** core/v1, as kubelets and node-problem-detector write them. */
export const NODE_EVENTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

export const NODE_EVENTS_SELECTION = {
  namespace: NAMESPACE_OF_NODE_EVENTS,
  fieldSelector: 'involvedObject.kind=Node',
};

export function viewProblems(views: FactViews, maxAgeMs = MAX_VIEW_AGE_MS): ViewProblems {
  const { machines, nodes, jobs, events, agentLeases, maintenance } = views;
  return {
    machines: problemOf(machines, 'Machines', maxAgeMs),
    nodes: problemOf(nodes, 'Nodes', maxAgeMs),
    jobs: problemOf(jobs, 'RemedyOperationJobs', maxAgeMs),
    events: problemOf(events, 'Events', maxAgeMs),
    leases: problemOf(agentLeases, 'Leases of agents', maxAgeMs),
    maintenance: maintenance
      ? problemOf(maintenance, 'MaintenanceEvents', maxAgeMs)
      : 'MaintenanceEvents are not read',
  };
}

function problemOf(
  { reflector }: Pick<FactView, 'reflector'>,
  what: string,
  maxAgeMs: number,
): string | undefined {
  return staleReason(reflector.freshness(), what, maxAgeMs);
}

/** Returns the Node that an Event is about; undefined if it is about an earlier Node of the same name, or another object. */
export function nodeOfEvent(event: KubeObject, nodes: FactView): string | undefined {
  if (textAt(event, 'involvedObject', 'kind') !== 'Node') return undefined;
  const name = textAt(event, 'involvedObject', 'name');
  const uid = textAt(event, 'involvedObject', 'uid');
  if (name === undefined) return undefined;
  const node = nodes.store.get(name);
  // The kubelet and node-problem-detector write the name as UID.
  const isOther = uid !== undefined && uid !== '' && uid !== name && node && node.metadata.uid !== uid;
  return isOther ? undefined : name;
}

export function kubeletHeartbeat(node: KubeObject): string | undefined {
  return textAt(readyCondition(node), 'lastHeartbeatTime');
}
