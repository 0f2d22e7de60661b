/** Groups machines that are counted together: the machines that a policy selects, by cluster, zone, pool, label or dimension. Pure. */

import { dimensionValues } from '../../api/diagnosis/dimensions.ts';
import type { ConcurrencyLimit, Selector } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';
import type { MachineFacts } from './facts.ts';

export type GroupedPer = Exclude<ConcurrencyLimit['per'], 'Holder'>;

export interface Grouping {
  /** The identifier of the grouping, which is the same for equal groupings. */
  readonly id: string;
  readonly selector: Selector;
  /** With Dimension, a machine is in the group of each of its values, or in none. */
  readonly per: GroupedPer | 'Dimension';
  /** The key of the label or dimension. */
  readonly labelKey?: string;
}

/** The group of machines without the label, without a pool or without a zone: limited like every other. */
export const NO_KEY = '(none)';
export const CLUSTER_KEY = 'cluster';

export function createGrouping(selector: Selector, per: Grouping['per'], labelKey?: string): Grouping {
  const id = JSON.stringify([per, labelKey ?? '', selector]);
  return { id, selector, per, ...(labelKey === undefined ? {} : { labelKey }) };
}

type Keyed = Pick<MachineFacts, 'labels' | 'zone' | 'pool'>;

export function groupKey({ per, labelKey = '' }: Pick<Grouping, 'per' | 'labelKey'>, machine: Keyed): string {
  if (per === 'Cluster') return CLUSTER_KEY;
  const keys: Partial<Record<Grouping['per'], string | undefined>> = {
    Zone: machine.zone,
    Pool: machine.pool,
    Label: labelOf(machine, labelKey),
  };
  return keys[per] ?? NO_KEY;
}

/** Returns the value of a label. It reads own properties only, because the key may be a name that every object has. */
function labelOf({ labels }: Keyed, key: string): string | undefined {
  return ownValue(labels, key);
}

export function groupKeys(grouping: Grouping, machine: MachineFacts): readonly string[] {
  if (grouping.per !== 'Dimension') return [groupKey(grouping, machine)];
  return dimensionValues(machine, grouping.labelKey ?? '');
}
