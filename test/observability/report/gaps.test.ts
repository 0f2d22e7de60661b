import { expect, it } from 'vitest';
import { gapsIn } from '../../../src/observability/report/gaps.ts';

const scraped = (steps: Readonly<Record<string, number>>) => ({
  found: Object.entries(steps).map(([process, value]) => ({ labels: { process }, value })),
});

it.each<[name: string, given: Parameters<typeof gapsIn>[0], want: readonly string[]]>([
  ['nothing while both are scraped', scraped({ controllers: 100, sync: 98 }), []],
  [
    'a process that was scraped for a part',
    scraped({ controllers: 41, sync: 100 }),
    ['kubenode controllers was scraped in 41 % of this period: its counts are too small'],
  ],
  [
    'a process that was never scraped',
    scraped({ controllers: 100, hosting: 100 }),
    ['kubenode sync was not scraped in this period'],
  ],
  ['that it is unknown', { problem: 'no answer' }, ['whether the metrics have gaps: no answer']],
])('DAT-11 names the processes that were not scraped throughout: %s', (_, given, want) => {
  expect(gapsIn(given, 100)).toEqual(want);
});
