/**
 * Cordons and uncordons a Node so that it shows whose cordon it is: an annotation holds the owner, such as the id of a
 * grant. A cordon without it is a person's, and stays. The annotation of a Node that is not cordoned tells that a person
 * has uncordoned it. Pure: the operations are for `patch` of a ReconcileContext, which tests that the Node has not changed.
 */
import type { JsonPatchOperation } from '../controller/writes/declared-fields.ts';
import { ownValue, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

export interface CordonMark {
  readonly annotation: string;
  readonly owner: string;
}

export type CordonState =
  | 'Ours'
  /** A person's, or one that was there before. */
  | 'Foreign'
  | 'OtherOwner'
  /** Ours, which a person removed. */
  | 'UncordonedByPerson'
  | 'None';

export interface CordonPlan {
  readonly state: CordonState;
  readonly because: string;
  /** Empty when nothing is to be done. */
  readonly operations: readonly JsonPatchOperation[];
}

const UNSCHEDULABLE = '/spec/unschedulable';

const BECAUSE: Readonly<Record<CordonState, string>> = {
  Ours: 'the node is cordoned by us',
  Foreign: 'the node is cordoned by someone else',
  OtherOwner: 'the node is cordoned for another grant',
  UncordonedByPerson: 'a person has uncordoned the node',
  None: 'the node is not cordoned',
};

export function cordonState(node: KubeObject, { annotation, owner }: CordonMark): CordonState {
  const marked = ownValue(node.metadata.annotations ?? {}, annotation);
  if (valueAt(node, 'spec', 'unschedulable') === true) {
    if (marked === undefined) return 'Foreign';
    return marked === owner ? 'Ours' : 'OtherOwner';
  }
  return marked === owner ? 'UncordonedByPerson' : 'None';
}

/** Cordons what is not cordoned, but never again what a person has uncordoned for this owner. */
export function planCordon(node: KubeObject, mark: CordonMark): CordonPlan {
  const state = cordonState(node, mark);
  const operations = state === 'None' ? cordonOperations(node, mark) : [];
  return { state, because: BECAUSE[state], operations };
}

/** Removes our cordon and our annotation, and nothing of anyone else. */
export function planUncordon(node: KubeObject, mark: CordonMark): CordonPlan {
  const state = cordonState(node, mark);
  const removal = { op: 'remove', path: annotationPath(mark.annotation) } as const;
  const operations: Readonly<Record<CordonState, readonly JsonPatchOperation[]>> = {
    Ours: [{ op: 'remove', path: UNSCHEDULABLE }, removal],
    UncordonedByPerson: [removal],
    Foreign: [],
    OtherOwner: [],
    None: [],
  };
  return { state, because: BECAUSE[state], operations: operations[state] };
}

function cordonOperations(
  { metadata: { annotations } }: KubeObject,
  { annotation, owner }: CordonMark,
): readonly JsonPatchOperation[] {
  const mark =
    annotations === undefined
      ? ({ op: 'add', path: '/metadata/annotations', value: { [annotation]: owner } } as const)
      : ({ op: 'add', path: annotationPath(annotation), value: owner } as const);
  return [mark, { op: 'add', path: UNSCHEDULABLE, value: true }];
}

function annotationPath(annotation: string): string {
  return `/metadata/annotations/${annotation.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
