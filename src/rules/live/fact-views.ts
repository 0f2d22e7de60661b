/** Tells what the views of facts are good for: whether they can be used, and which node an object is about. */
import { readyCondition } from '../../api/machine/node-state.ts';
import { MAX_VIEW_AGE_MS, staleReason } from '../../kube/cache/freshness.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ViewProblems } from '../facts/reading/snapshot.ts';
import { type FactView, type FactViews, mapFactViews } from '../views.ts';

export function viewProblems(views: FactViews, maxAgeMs = MAX_VIEW_AGE_MS): ViewProblems {
  return mapFactViews(({ title }, name) => staleReason(views[name].reflector.freshness(), title, maxAgeMs));
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
