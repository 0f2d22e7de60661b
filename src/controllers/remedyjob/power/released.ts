/**
 * Tells what a node that is out of service still holds: pods that Kubernetes deletes, and volumes that it detaches. Until then, what
 * runs elsewhere may wait for a volume. Pure.
 */
import type { Taint } from '../../../api/generated/types.ts';
import { isStatic, podName } from '../../../kube/drain/pods.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { OUT_OF_SERVICE_TAINT } from './out-of-service.ts';

export interface HeldObjects {
  readonly node: string;
  readonly pods: readonly KubeObject[];
  readonly attachments: readonly KubeObject[];
}

/** A message has 256 characters: so many names of each kind fit. */
const MAX_NAMES = 3;

/** Returns what is still held, for people; undefined when all is released. */
export function heldReason({ node, pods, attachments }: HeldObjects): string | undefined {
  const held = pods.filter((pod) => textAt(pod, 'spec', 'nodeName') === node && isDeleted(pod)).map(podName);
  const attached = attachments
    .filter((each) => textAt(each, 'spec', 'nodeName') === node)
    .map(({ metadata }) => metadata.name);
  const parts = [counted('pods', held), counted('attached volumes', attached)].filter(
    (each) => each !== undefined,
  );
  return parts.length > 0 ? `the node still has ${parts.join(' and ')}` : undefined;
}

function counted(what: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const shown = names.toSorted().slice(0, MAX_NAMES);
  return `${names.length} ${what} (${shown.join(', ')}${names.length > MAX_NAMES ? ', …' : ''})`;
}

/** Tells whether the taint makes Kubernetes delete the pod. What tolerates it stays, and so does what the API server only mirrors. */
function isDeleted(pod: KubeObject): boolean {
  if (isStatic(pod)) return false;
  return !listAt(pod, 'spec', 'tolerations').some((each) => tolerates(each, OUT_OF_SERVICE_TAINT));
}

/** Compares as Kubernetes does: without a key, `Exists` tolerates every taint. `tolerationSeconds` only delay. */
function tolerates(toleration: unknown, { key, value, effect }: Taint): boolean {
  const text = (field: string): string => textAt(toleration, field) ?? '';
  const isSameEffect = ['', effect].includes(text('effect'));
  if (!isSameEffect || valueAt(toleration, 'tolerationSeconds') !== undefined) return false;
  if (text('operator') === 'Exists') return ['', key].includes(text('key'));
  return text('key') === key && text('value') === value;
}
