import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { LEASE_HELD, RECONCILE } from '../../../src/kube/process/metrics-runtime.ts';
import {
  events,
  highest,
  lowest,
  quantile,
  seriesIn,
  total,
  zeroWhile,
} from '../../../src/observability/dashboards/promql.ts';
import { HOSTING_CERTIFICATE_END } from '../../../src/observability/metrics/hosting.ts';
import { MACHINES_BY_STATE } from '../../../src/observability/metrics/machine.ts';
import { REMEDY_JOBS, REMEDY_WAITING } from '../../../src/observability/metrics/repair.ts';
import { SYNC_PUSH_SECONDS, SYNC_RELEASES } from '../../../src/observability/metrics/sync.ts';
import { hasPrometheus } from '../../support/prometheus.ts';
import { tempFolder } from '../../support/temp.ts';
import { asGrafana } from './described.ts';

const WINDOW = { window: '1h' };

describe('the queries of dashboards', () => {
  it.each([
    [
      'counts replicas that tell the same once',
      total(MACHINES_BY_STATE, { where: { state: ['Ready', 'Held'] }, by: ['state'] }),
      'sum by (state) (max by (cluster, state)(kubenode_machines{cluster=~"$cluster",state=~"Ready|Held"}))',
    ],
    [
      'chooses no cluster for metrics of the hub',
      total(SYNC_RELEASES, { by: ['phase'] }),
      'sum by (phase) (max by (cluster, phase)(kubenode_sync_releases))',
    ],
    [
      'sums what replicas counted, each for itself',
      events(REMEDY_JOBS, { where: { outcome: 'Succeeded' }, by: ['rule'], ...WINDOW }),
      'sum by (rule) (increase(kubenode_remedy_jobs_total{cluster=~"$cluster",outcome="Succeeded"}[1h]))',
    ],
    [
      'takes a quantile of the buckets',
      quantile(0.95, SYNC_PUSH_SECONDS, WINDOW),
      'histogram_quantile(0.95, sum by (le) (increase(kubenode_sync_push_to_first_stage_seconds_bucket[1h])))',
    ],
    [
      'finds the first end',
      lowest(HOSTING_CERTIFICATE_END, { by: ['cluster'] }),
      'min by (cluster) (kubenode_hosting_certificate_end_seconds)',
    ],
    [
      'tells processes apart that have the same metric',
      seriesIn('sync', RECONCILE, { where: { outcome: 'failed' }, suffix: '_count', ...WINDOW }),
      'increase(kubenode_reconcile_seconds_count{outcome="failed"}[1h]) and on (job, instance) kubenode_build_info{process="sync"}',
    ],
  ])('DAT-07 are written from rows of the table of metrics: %s', (_title, query, expected) => {
    expect(query).toBe(expected);
  });
});

const WAITING = zeroWhile('machines are counted', total(REMEDY_WAITING));
const NOT_READY = total(MACHINES_BY_STATE, { where: { state: 'NotReady' } });
const machines = (labels: string): string => `kubenode_machines{state="NotReady"${labels}}`;

/** promtool evaluates them as Prometheus does. */
describe.skipIf(!hasPrometheus)('the queries of dashboards in promtool', () => {
  it.each<
    [title: string, query: string, series: Readonly<Record<string, number>>, values: readonly number[]]
  >([
    [
      'sum over clusters and not over replicas',
      NOT_READY,
      {
        [machines(',cluster="eu",instance="a"')]: 2,
        [machines(',cluster="eu",instance="b"')]: 2,
        [machines(',cluster="us",instance="c"')]: 3,
      },
      [5],
    ],
    ['count a cluster whose targets have no label', NOT_READY, { [machines('')]: 4 }, [4]],
    ['are 0 without faults while machines are counted', WAITING, { [machines('')]: 4 }, [0]],
    ['are empty while no machine is counted: unknown is not 0', WAITING, {}, []],
    [
      'count faults as they are',
      WAITING,
      { [machines('')]: 4, 'kubenode_remedy_waiting_machines{rule="disk",reason="NodeBusy"}': 2 },
      [2],
    ],
    [
      'take the processes of one part',
      `sum(${seriesIn('sync', LEASE_HELD)})`,
      {
        'kubenode_lease_held{lease="x",job="a",instance="1"}': 1,
        'kubenode_lease_held{lease="y",job="b",instance="1"}': 1,
        'kubenode_build_info{process="sync",job="a",instance="1"}': 1,
        'kubenode_build_info{process="controllers",job="b",instance="1"}': 1,
      },
      [1],
    ],
    ['take the worst replica', highest(REMEDY_WAITING), { kubenode_remedy_waiting_machines: 3 }, [3]],
  ])('DAT-07 have the value that a person expects: %s', (_title, query, series, values) => {
    expect(evaluate(query, series, values)).toContain('SUCCESS');
    expect(evaluate(query, series, [-1])).toContain('FAILED');
  });
});

function evaluate(
  query: string,
  series: Readonly<Record<string, number>>,
  values: readonly number[],
): string {
  const file = join(tempFolder('promql'), 'test.yaml');
  const expected = values.map((value) => ({ labels: '{}', value }));
  const test = {
    interval: '1m',
    input_series: Object.entries(series).map(([name, value]) => ({ series: name, values: `${value}x5` })),
    promql_expr_test: [{ expr: asGrafana(query), eval_time: '2m', exp_samples: expected }],
  };
  writeFileSync(file, stringify({ rule_files: [], tests: [test] }));
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return stdout + stderr;
}
