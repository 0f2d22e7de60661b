/** Reads from a Node which Pods can run on it. Pure. */
import { isCordoned, readinessOf } from '../../api/machine/node-state.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import { type Amounts, amountsOf } from './requests.ts';

export interface CapacityNode {
  readonly name: string;
  readonly labels: Labels;
  /** Those that keep Pods away. */
  readonly taints: readonly Taint[];
  /** Absent: not reported, or it cannot be read. */
  readonly allocatable: Amounts | undefined;
  /** Why it takes no Pods; undefined: it does. */
  readonly closed: string | undefined;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export function capacityNode(node: KubeObject): CapacityNode {
  const allocatable = valueAt(node, 'status', 'allocatable');
  return {
    name: node.metadata.name,
    labels: node.metadata.labels ?? {},
    taints: listAt(node, 'spec', 'taints')
      .map(taintOf)
      .filter(({ effect }) => effect !== 'PreferNoSchedule'),
    allocatable: allocatable === undefined ? undefined : amountsOf(allocatable),
    closed: whyClosed(node),
  };
}

function whyClosed(node: KubeObject): string | undefined {
  if (node.metadata.deletionTimestamp !== undefined) return 'being deleted';
  if (isCordoned(node)) return 'cordoned';
  return readinessOf(node) === 'Ready' ? undefined : 'not Ready';
}

function taintOf(taint: unknown): Taint {
  return {
    key: textAt(taint, 'key') ?? '',
    value: textAt(taint, 'value') ?? '',
    effect: textAt(taint, 'effect') ?? '',
  };
}
