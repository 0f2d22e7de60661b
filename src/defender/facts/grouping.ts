/** How machines are counted together: the machines that a policy selects, by cluster, zone, pool or label. Pure. */
import type { ConcurrencyLimit, Selector } from '../../api/generated/types.ts';
import type { MachineFacts } from './facts.ts';

export type GroupedPer = Exclude<ConcurrencyLimit['per'], 'Holder'>;

export interface Grouping {
  /** The same for equal groupings. */
  readonly id: string;
  readonly selector: Selector;
  readonly per: GroupedPer;
  readonly labelKey?: string;
}

/** The group of machines without the label, without a pool or without a zone: limited like every other. */
export const NO_KEY = '(none)';
export const CLUSTER_KEY = 'cluster';

export function createGrouping(selector: Selector, per: GroupedPer, labelKey?: string): Grouping {
  const id = JSON.stringify([per, labelKey ?? '', selector]);
  return { id, selector, per, ...(labelKey === undefined ? {} : { labelKey }) };
}

type Keyed = Pick<MachineFacts, 'labels' | 'zone' | 'pool'>;

export function groupKey({ per, labelKey = '' }: Pick<Grouping, 'per' | 'labelKey'>, machine: Keyed): string {
  if (per === 'Cluster') return CLUSTER_KEY;
  const keys = { Zone: machine.zone, Pool: machine.pool, Label: labelOf(machine, labelKey) };
  return keys[per] ?? NO_KEY;
}

/** A key of a label may be a name that every object has. */
function labelOf({ labels }: Keyed, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
