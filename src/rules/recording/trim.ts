/** The fields of an object that facts and the plan of a repair read: no message, no environment, nothing about pods. Pure. */
import { ANNOTATION_HOLD, ANNOTATION_OWNER_HOLD } from '../../api/names.ts';
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { FACT_KINDS } from '../catalog.ts';
import { pickFields, type RecordedFields, uniteFields } from '../facts/reading/recorded.ts';
import { FACT_VIEWS, OBJECT_VIEWS, type ObjectView } from '../views.ts';

/** Every recorded object has these fields. */
const COMMON: RecordedFields = {
  apiVersion: true,
  kind: true,
  metadata: {
    name: true,
    namespace: true,
    uid: true,
    labels: true,
    finalizers: true,
    creationTimestamp: true,
    deletionTimestamp: true,
    annotations: { [ANNOTATION_HOLD]: true, [ANNOTATION_OWNER_HOLD]: true },
  },
};

const FIELDS: ReadonlyMap<ObjectView, RecordedFields> = new Map(
  OBJECT_VIEWS.map((view) => [view, uniteFields(COMMON, ...fieldsOf(view))]),
);

function fieldsOf(view: ObjectView): readonly RecordedFields[] {
  const { recorded } = FACT_VIEWS[view];
  const ofFacts = [...FACT_KINDS.values()].map((kind) => kind.recorded[view] ?? {});
  return recorded === 'Lease' ? ofFacts : [recorded.fields, ...ofFacts];
}

export function trimRecorded(view: ObjectView, object: KubeObject): KubeObject {
  return pickFields(object, FIELDS.get(view) ?? COMMON) as KubeObject;
}

export interface SplitHeartbeats {
  /** With no heartbeat in its conditions. */
  readonly rest: KubeObject;
  readonly times: ReadonlyMap<string, string>;
}

/** So that a Node of which only the heartbeats are new takes a short line. */
export function splitHeartbeats(node: KubeObject): SplitHeartbeats {
  const times = new Map<string, string>();
  const conditions = listAt(node, 'status', 'conditions').map((condition) => {
    const [type, time] = [textAt(condition, 'type'), textAt(condition, 'lastHeartbeatTime')];
    if (type === undefined || time === undefined || !isRecord(condition)) return condition;
    times.set(type, time);
    const { lastHeartbeatTime: _, ...rest } = condition;
    return rest;
  });
  return { rest: withConditions(node, conditions), times };
}

export function withHeartbeats(node: KubeObject, times: ReadonlyMap<string, string>): KubeObject {
  const conditions = listAt(node, 'status', 'conditions').map((condition) => {
    const time = times.get(textAt(condition, 'type') ?? '');
    return isRecord(condition) && time !== undefined ? { ...condition, lastHeartbeatTime: time } : condition;
  });
  return withConditions(node, conditions);
}

function withConditions(node: KubeObject, conditions: readonly unknown[]): KubeObject {
  const status = valueAt(node, 'status');
  return isRecord(status) ? { ...node, status: { ...status, conditions } } : node;
}
