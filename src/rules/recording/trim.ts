/** The fields of an object that facts and the plan of a repair read: no message, no environment, nothing about pods. Pure. */
import { ANNOTATION_HOLD } from '../../api/names.ts';
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ObjectView } from './format.ts';

/** A field, or a field with those inside it; of a list, of each entry. */
type Fields = readonly (string | readonly [field: string, inner: Fields])[];

const CONDITION = ['type', 'status', 'reason', 'lastTransitionTime', 'lastHeartbeatTime'];

const METADATA: Fields = [
  'name',
  'namespace',
  'uid',
  'labels',
  'finalizers',
  'creationTimestamp',
  'deletionTimestamp',
  ['annotations', [ANNOTATION_HOLD]],
];

const FIELDS: Readonly<Record<ObjectView, Fields>> = {
  nodes: [
    ['spec', ['unschedulable']],
    [
      'status',
      [
        ['conditions', CONDITION],
        ['nodeInfo', ['architecture', 'kernelVersion', 'osImage', 'kubeletVersion', 'bootID']],
        ['allocatable', ['nvidia.com/gpu']],
      ],
    ],
  ],
  machines: [
    ['spec', ['hold', ['node', ['labels']]]],
    [
      'status',
      [
        ['conditions', CONDITION],
        ['node', ['uid', 'bootID']],
        ['agent', ['version']],
        ['components', ['name', 'state', 'ready', 'restarts', 'since', 'currentRef']],
        'system',
        ['facts', ['bootedAt', 'disk', 'probes']],
        'faults',
      ],
    ],
  ],
  jobs: [
    [
      'spec',
      [
        'machine',
        'node',
        ['cause', ['remedier', 'case', 'commit', 'ruleDigest', 'faultClass']],
        'rung',
        'attempt',
        'group',
        'risk',
        ['grant', ['id', 'issuedAt']],
        ['plan', ['id', 'step']],
        'deadline',
        'settle',
      ],
    ],
    [
      'status',
      [
        ['conditions', CONDITION],
        ['outcome', ['class']],
        ['steps', ['id', 'state', 'startedAt', 'finishedAt']],
        'timeline',
      ],
    ],
  ],
  events: [
    ['involvedObject', ['kind', 'name', 'uid']],
    'reason',
    'count',
    'firstTimestamp',
    'lastTimestamp',
    'eventTime',
    ['series', ['count', 'lastObservedTime']],
  ],
  components: [['spec', ['version']]],
  maintenance: [
    ['spec', ['machine', 'type', 'state', 'hint', 'ttlSeconds', 'notBefore']],
    ['status', ['observedGeneration', 'actAt', ['conditions', CONDITION]]],
  ],
};

export function trimRecorded(view: ObjectView, object: KubeObject): KubeObject {
  // What the status of an event is about.
  const metadata = view === 'maintenance' ? [...METADATA, 'generation'] : METADATA;
  const fields: Fields = ['apiVersion', 'kind', ['metadata', metadata], ...FIELDS[view]];
  return pick(object, fields) as KubeObject;
}

function pick(value: unknown, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((entry) => pick(entry, fields));
  if (!isRecord(value)) return value;
  const entries = fields.flatMap((each): (readonly [string, unknown])[] => {
    const [field, inner] = typeof each === 'string' ? [each, undefined] : each;
    const present = valueAt(value, field);
    if (present === undefined || present === null) return [];
    return [[field, inner ? pick(present, inner) : present]];
  });
  return Object.fromEntries(entries);
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
