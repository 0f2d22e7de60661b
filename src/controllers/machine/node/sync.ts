/**
 * Plans what has to change on a Node so that it has the labels, annotations and taints of its Machine. Keys of others are never
 * touched. Pure: the operations are for `patch` of a ReconcileContext, which tests that the Node has not changed.
 */
import type { Machine } from '../../../api/generated/types.ts';
import { ANNOTATION_OWNED, LABEL_MACHINE } from '../../../api/names.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../../kube/controller/writes/json-patch.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { changedRecord, ownedKeys } from './owned-keys.ts';
import { planTaints } from './taints.ts';

export interface NodeSync {
  /** The operations; empty when nothing is to be done. */
  readonly operations: readonly JsonPatchOperation[];
  /** Keys that the Machine declares and somebody else has set to another value: `label tier`. */
  readonly conflicts: readonly string[];
  /** Taints that would evict pods, and may not be set now. */
  readonly postponed: readonly string[];
}

export interface NodeSyncOptions {
  /** Whether no hold of a person forbids to evict pods. */
  readonly mayEvict: boolean;
  readonly removeStartupTaint: boolean;
  /** Whether the Node is cordoned under a grant. Undefined: it does not matter for what the Machine declares. */
  readonly isInMaintenance?: boolean;
}

export function planNodeSync(machine: Machine, node: KubeObject, options: NodeSyncOptions): NodeSync {
  const { spec, metadata } = machine;
  const before = ownedKeys(node);
  const labels = planMap({
    desired: { ...spec.node.labels, [LABEL_MACHINE]: metadata.name },
    present: node.metadata.labels,
    owned: before.labels,
  });
  const annotations = planMap({
    desired: spec.node.annotations ?? {},
    present: node.metadata.annotations,
    owned: before.annotations,
  });
  const taints = planTaints({ desired: spec.node.taints, node, owned: before.taints, ...options });
  const record = changedRecord(node, {
    labels: labels.owned,
    annotations: annotations.owned,
    taints: taints.owned,
  });
  const all = record === undefined ? annotations.set : { ...annotations.set, [ANNOTATION_OWNED]: record };
  return {
    operations: [
      ...mapOperations('/metadata/labels', node.metadata.labels, labels),
      ...mapOperations('/metadata/annotations', node.metadata.annotations, { ...annotations, set: all }),
      ...taints.operations,
    ],
    conflicts: [
      ...labels.conflicts.map((key) => `label ${key}`),
      ...annotations.conflicts.map((key) => `annotation ${key}`),
      ...taints.conflicts.map((taint) => `taint ${taint}`),
    ],
    postponed: taints.postponed,
  };
}

type Texts = Readonly<Record<string, string>>;

interface MapInput {
  readonly desired: Texts;
  readonly present: Texts | undefined;
  readonly owned: readonly string[];
}

interface MapPlan {
  readonly set: Texts;
  readonly remove: readonly string[];
  readonly owned: readonly string[];
  readonly conflicts: readonly string[];
}

function planMap({ desired, present = {}, owned }: MapInput): MapPlan {
  const wrong = Object.keys(desired).filter((key) => ownValue(present, key) !== desired[key]);
  const ours = wrong.filter((key) => owned.includes(key) || ownValue(present, key) === undefined);
  return {
    set: Object.fromEntries(ours.map((key) => [key, desired[key] ?? ''])),
    remove: owned.filter((key) => !Object.hasOwn(desired, key) && ownValue(present, key) !== undefined),
    owned: Object.keys(desired).filter((key) => owned.includes(key) || ours.includes(key)),
    conflicts: wrong.filter((key) => !ours.includes(key)),
  };
}

function mapOperations(
  path: string,
  present: Texts | undefined,
  { set, remove }: Pick<MapPlan, 'set' | 'remove'>,
): readonly JsonPatchOperation[] {
  if (present === undefined) return Object.keys(set).length > 0 ? [{ op: 'add', path, value: set }] : [];
  return [
    ...Object.entries(set).map(
      ([key, value]) => ({ op: 'add', path: `${path}${pointerTo(key)}`, value }) as const,
    ),
    ...remove.map((key) => ({ op: 'remove', path: `${path}${pointerTo(key)}` }) as const),
  ];
}
