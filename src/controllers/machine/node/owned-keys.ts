/**
 * Which labels, annotations and taints of a Node are ours, as its annotation `kubenode.dev/owned` records it. What is not
 * recorded belongs to others, also where it has the value that we want. Pure.
 */
import { ANNOTATION_OWNED } from '../../../api/names.ts';
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { isRecord, type JsonRecord, listAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface OwnedKeys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
  /** Each `key:effect`. */
  readonly taints: readonly string[];
}

/** A record that cannot be read owns nothing: then nothing is removed. */
export function ownedKeys(node: KubeObject): OwnedKeys {
  const record = recordOf(node);
  return {
    labels: listAt(record, 'labels').map(String),
    annotations: listAt(record, 'annotations').map(String),
    taints: listAt(record, 'taints').map(String),
  };
}

/** The value of the annotation; undefined when it stays. Other controllers have fields of their own in it. */
export function changedRecord(node: KubeObject, owned: OwnedKeys): string | undefined {
  const text = canonicalJson({
    ...recordOf(node),
    labels: owned.labels.toSorted(),
    annotations: owned.annotations.toSorted(),
    taints: owned.taints.toSorted(),
  });
  return text === node.metadata.annotations?.[ANNOTATION_OWNED] ? undefined : text;
}

function recordOf({ metadata }: KubeObject): JsonRecord {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[ANNOTATION_OWNED] ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
