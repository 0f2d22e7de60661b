import { describe, expect, it } from 'vitest';
import { grafanaPanel } from '../../../src/observability/dashboards/grafana-panel.ts';
import {
  badFrom,
  bars,
  goodFrom,
  now,
  type Panel,
  table,
  trend,
} from '../../../src/observability/dashboards/panel.ts';

const TEXT = { title: 'Machines', description: 'What it is.' };
const NO_DATA = {
  type: 'special',
  options: { match: 'null+nan', result: { text: 'no data', color: 'purple' } },
};

function built(panel: Panel) {
  return grafanaPanel(panel, 7, { width: 6, height: 4 }).build();
}

describe('grafanaPanel', () => {
  it.each([
    ['stat', now(TEXT, 'up'), { instant: true, range: false, format: 'time_series' }],
    [
      'timeseries',
      trend(TEXT, { expr: 'up', legend: '{{job}}' }),
      { range: true, instant: false, legendFormat: '{{job}}' },
    ],
    ['bargauge', bars(TEXT, { expr: 'up' }), { instant: true, format: 'time_series' }],
    ['table', table(TEXT, 'up'), { instant: true, format: 'table' }],
  ])('DAT-07 asks for all samples only where lines show them: %s', (type, panel, target) => {
    const { targets, datasource, ...rest } = built(panel);
    expect(rest).toMatchObject({ type, id: 7, title: 'Machines', gridPos: { w: 6, h: 4 } });
    expect(targets).toEqual([expect.objectContaining({ refId: 'A', expr: 'up', ...target })]);
    expect(datasource).toEqual({ type: 'prometheus', uid: `\${datasource}` });
  });

  it('DAT-07 names the queries of a panel apart', () => {
    const { targets = [] } = built(trend(TEXT, { expr: 'up' }, { expr: 'down' }));
    expect(targets).toMatchObject([{ refId: 'A' }, { refId: 'B' }]);
  });

  it.each([
    [
      badFrom(1),
      [
        [null, 'green'],
        [1, 'red'],
      ],
    ],
    [
      badFrom(1, 10),
      [
        [null, 'green'],
        [1, 'orange'],
        [10, 'red'],
      ],
    ],
    [
      goodFrom(0.9),
      [
        [null, 'red'],
        [0.9, 'green'],
      ],
    ],
    [
      goodFrom(0.9, 0.5),
      [
        [null, 'red'],
        [0.5, 'orange'],
        [0.9, 'green'],
      ],
    ],
  ])('DAT-07 paints values from the lowest one on: %j', (thresholds, expected) => {
    const { fieldConfig } = built(now({ ...TEXT, thresholds }, 'up'));
    const steps = fieldConfig?.defaults.thresholds?.steps ?? [];
    expect(steps.map(({ value, color }) => [value, color])).toEqual(expected);
  });

  it('DAT-07 has words for numbers, and one for no number', () => {
    const plain = built(now(TEXT, 'up')).fieldConfig?.defaults.mappings;
    expect(plain).toEqual([NO_DATA]);
    const named = built(now({ ...TEXT, words: { 0: 'down', 1: 'up' } }, 'up')).fieldConfig?.defaults.mappings;
    const options = { 0: { text: 'down' }, 1: { text: 'up' } };
    expect(named).toEqual([{ type: 'value', options }, NO_DATA]);
  });

  it('DAT-07 links to the dashboard with more, for the same clusters and time', () => {
    const links = built(now({ ...TEXT, seeUid: 'kubenode-sync' }, 'up')).links?.map(({ url }) => url);
    expect(links).toEqual([`/d/kubenode-sync?\${__url_time_range}&\${__all_variables}`]);
    expect(built(now(TEXT, 'up')).links).toBeUndefined();
  });
});
