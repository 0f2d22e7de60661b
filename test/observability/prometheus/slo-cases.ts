/** What each objective does when its budget burns: all is well for a day, then a part is bad, then all is well again. Samples of five minutes. */

import type { Slo } from '../../../src/observability/slos/slo.ts';
import { bucketSeries, countSeries, SAMPLE_MINUTES, stateSeries } from './series.ts';

export interface BurnCase {
  readonly title: string;
  readonly series: Readonly<Record<string, string>>;
  /** In minutes. Absent: it depends on the objective. */
  readonly expected: readonly { readonly at: number; readonly fast: boolean; readonly slow?: boolean }[];
}

const HOUR = 60;
const DAY = 24 * HOUR;

/** Everything fails for an hour; then a little more than the budget permits, for two days. */
export function burnCases(slo: Slo): readonly BurnCase[] {
  const { objective } = slo;
  return [
    {
      title: 'everything is bad for an hour',
      series: seriesOf(slo, [
        [DAY, 0],
        [HOUR, 1],
        [2 * DAY, 0],
      ]),
      expected: [
        { at: DAY - SAMPLE_MINUTES, fast: false, slow: false },
        { at: DAY + HOUR, fast: true },
        { at: DAY + 9 * HOUR, fast: false, slow: false },
      ],
    },
    {
      title: 'twice the budget is bad for three days',
      series: seriesOf(slo, [
        [DAY, 0],
        [3 * DAY, 2 * (1 - objective)],
        [DAY, 0],
      ]),
      expected: [
        { at: DAY - SAMPLE_MINUTES, fast: false, slow: false },
        { at: 3.5 * DAY, fast: false, slow: true },
        { at: 4 * DAY + 12 * HOUR, fast: false, slow: false },
      ],
    },
    {
      title: 'half of the budget is bad for ever',
      series: seriesOf(slo, [[3.5 * DAY, 0.5 * (1 - objective)]]),
      expected: [{ at: 3.5 * DAY - SAMPLE_MINUTES, fast: false, slow: false }],
    },
  ];
}

type Part = readonly [minutes: number, badRatio: number];

function seriesOf({ indicator }: Slo, parts: readonly Part[]): Readonly<Record<string, string>> {
  if (indicator.type === 'States') return stateSeries(indicator, parts);
  return { ...countSeries(indicator, parts), ...bucketSeries(indicator, parts) };
}
