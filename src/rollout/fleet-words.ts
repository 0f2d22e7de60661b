/** The words for a limit over clusters, the same in commands, plans and the console. Pure. */
import { durationText } from '../api/elapsed.ts';
import type { FleetConcurrency, FleetPolicy, FleetRate } from '../api/generated/types.ts';

export interface DeclaredFleetLimit {
  /** `<policy>/<limit>`. */
  readonly id: string;
  /** The counted things, and when: `clusters in work at once`. */
  readonly counts: string;
  readonly max: number;
}

export function declaredFleetLimits({
  metadata: { name: policy },
  spec: { concurrency, rates },
}: Pick<FleetPolicy, 'metadata' | 'spec'>): readonly DeclaredFleetLimit[] {
  const all = [
    ...concurrency.map((limit) => ({ ...limit, counts: concurrencyText(limit) })),
    ...rates.map((limit) => ({ ...limit, counts: rateText(limit) })),
  ];
  return all.map(({ name, counts, max }) => ({ id: `${policy}/${name}`, counts, max }));
}

const PLURALS = { Cluster: 'clusters', Region: 'regions', Environment: 'environments' } as const;

export function concurrencyText({ per, labelKey = '' }: Pick<FleetConcurrency, 'per' | 'labelKey'>): string {
  return `${per === 'Label' ? `values of label ${labelKey}` : PLURALS[per]} in work at once`;
}

export function rateText({ actions, windowSeconds }: Pick<FleetRate, 'actions' | 'windowSeconds'>): string {
  const counted = actions.length === 0 ? 'acts that take a node down' : `acts ${actions.join(', ')}`;
  return `${counted} in ${durationText(windowSeconds)}`;
}
