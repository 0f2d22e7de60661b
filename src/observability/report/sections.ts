/** Declares the sections of the report: which queries fill their columns, and which metrics these need. Pure. */

import { DEFENDER_DECISIONS } from '../metrics/defender.ts';
import { FLEET_LEAD, RELEASES, RESTORE, STAGE_LEAD, STAGE_RELEASES } from '../metrics/delivery.ts';
import { COMPONENT_MACHINES, COVERAGE_STATES } from '../metrics/machine.ts';
import { MACHINE_REPAIRS, REMEDY_FAULTS } from '../metrics/repair.ts';
import { COMPONENT_ROLLOUTS } from '../metrics/rollout.ts';
import { METRIC_PREFIX } from '../metrics/table.ts';
import { changeFailureRatio, componentFailureRatio } from '../prometheus/delivery.ts';
import { errorRatio, type Slo } from '../slos/slo.ts';
import { SLOS } from '../slos/slos.ts';

export type ColumnUnit = 'count' | 'perDay' | 'ratio' | 'seconds';

export interface ReportColumn {
  readonly name: string;
  readonly unit: ColumnUnit;
  readonly query: string;
  /** Names of series, as Prometheus stores them. */
  readonly needs: readonly string[];
  /** The labels of the row, where the answer has none. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface ReportSectionPlan {
  readonly id: string;
  readonly title: string;
  /** The labels that identify a row. */
  readonly keys: readonly string[];
  readonly columns: readonly ReportColumn[];
  /** The column by which rows are sorted, the greatest first. Undefined: by their keys. */
  readonly worstBy?: string;
}

export interface ReportScope {
  readonly seconds: number;
  /** The label by which one Prometheus tells clusters apart. */
  readonly clusterLabel: string;
}

export function reportSections(scope: ReportScope): readonly ReportSectionPlan[] {
  const window = `${scope.seconds}s`;
  return [
    { id: 'slos', title: 'Objectives', keys: ['slo'], columns: SLOS.map((slo) => sloColumn(slo, window)) },
    delivery(window, scope.seconds),
    stages(window),
    rollouts(window),
    coverage(scope),
    {
      id: 'faults',
      title: 'Top faults',
      keys: ['rule', 'fault'],
      worstBy: 'faults',
      columns: [top('faults', REMEDY_FAULTS.name, { by: 'rule, fault', window })],
    },
    {
      id: 'denials',
      title: 'Top denials of the Defender',
      keys: ['action', 'reason'],
      worstBy: 'denials',
      columns: [
        top('denials', DEFENDER_DECISIONS.name, {
          by: 'action, reason',
          window,
          matcher: '{reason!="Granted"}',
        }),
      ],
    },
    worstMachines(window, scope),
  ];
}

export const TOP_ROWS = 10;

function sloColumn(slo: Slo, window: string): ReportColumn {
  const { indicator, name } = slo;
  const needs =
    indicator.type === 'States'
      ? [full(indicator.gauge)]
      : [full(`${indicator.histogram}_bucket`), full(`${indicator.histogram}_count`)];
  return {
    name: 'good',
    unit: 'ratio',
    query: `1 - (${errorRatio(slo, window)})`,
    needs,
    labels: { slo: name },
  };
}

function delivery(window: string, seconds: number): ReportSectionPlan {
  const events = counts(RELEASES.name, 'pipeline', window);
  const started = events('started', 'Started');
  return {
    id: 'delivery',
    title: 'Delivery of commits (DORA)',
    keys: ['pipeline'],
    columns: [
      { ...started, name: 'startedPerDay', unit: 'perDay', query: `${started.query} / ${seconds / 86_400}` },
      events('proven', 'Proven'),
      events('failed', 'Failed'),
      events('reverted', 'Reverted'),
      {
        name: 'changeFailureRate',
        unit: 'ratio',
        query: changeFailureRatio(window),
        needs: started.needs,
      },
      quantile('leadP50', 0.5, FLEET_LEAD.name, { by: 'pipeline', window }),
      quantile('leadP95', 0.95, FLEET_LEAD.name, { by: 'pipeline', window }),
      quantile('restoreP50', 0.5, RESTORE.name, { by: 'pipeline', window }),
    ],
  };
}

function stages(window: string): ReportSectionPlan {
  const events = counts(STAGE_RELEASES.name, 'pipeline, stage', window);
  return {
    id: 'stages',
    title: 'Stages',
    keys: ['pipeline', 'stage'],
    columns: [
      events('started', 'Started'),
      events('proven', 'Proven'),
      events('failed', 'Failed'),
      quantile('leadP50', 0.5, STAGE_LEAD.name, { by: 'pipeline, stage', window }),
    ],
  };
}

function rollouts(window: string): ReportSectionPlan {
  const events = counts(COMPONENT_ROLLOUTS.name, 'component', window);
  const started = events('started', 'Started');
  return {
    id: 'rollouts',
    title: 'Rollouts of components',
    keys: ['component'],
    worstBy: 'started',
    columns: [
      started,
      events('batches', 'BatchStarted'),
      events('paused', 'Paused'),
      events('stopped', 'Stopped'),
      events('rolledBack', 'RolledBack'),
      { name: 'failureRate', unit: 'ratio', query: componentFailureRatio(window), needs: started.needs },
    ],
  };
}

/** At the end of the period. Replicas tell the same, and clusters do not: the maximum is of the replicas, the sum of the clusters. */
function coverage({ clusterLabel }: ReportScope): ReportSectionPlan {
  const metric = full(COMPONENT_MACHINES.name);
  return {
    id: 'coverage',
    title: 'Coverage of components',
    keys: ['component'],
    worstBy: 'differing',
    columns: COVERAGE_STATES.map((state) => ({
      name: state.toLowerCase(),
      unit: 'count',
      query: `sum by (component) (max by (component, ${clusterLabel}) (${metric}{state="${state}"}))`,
      needs: [metric],
    })),
  };
}

/** The most within seven days, at any moment of the period. */
function worstMachines(window: string, { clusterLabel }: ReportScope): ReportSectionPlan {
  const metric = full(MACHINE_REPAIRS.name);
  const most = `max by (${clusterLabel}, machine) (max_over_time(${metric}{machine!=""}[${window}]))`;
  return {
    id: 'machines',
    title: 'Worst machines',
    keys: [clusterLabel, 'machine'],
    worstBy: 'repairs',
    columns: [{ name: 'repairs', unit: 'count', query: `topk(${TOP_ROWS}, ${most})`, needs: [metric] }],
  };
}

interface Grouping {
  readonly by: string;
  readonly window: string;
  readonly matcher?: string;
}

function counts(metric: string, by: string, window: string) {
  return (name: string, event: string): ReportColumn => ({
    name,
    unit: 'count',
    query: `sum by (${by}) (increase(${full(metric)}{event="${event}"}[${window}]))`,
    needs: [full(metric)],
  });
}

function top(name: string, metric: string, { by, window, matcher = '' }: Grouping): ReportColumn {
  const total = `sum by (${by}) (increase(${full(metric)}${matcher}[${window}]))`;
  return { name, unit: 'count', query: `topk(${TOP_ROWS}, ${total} > 0)`, needs: [full(metric)] };
}

function quantile(name: string, share: number, histogram: string, { by, window }: Grouping): ReportColumn {
  const buckets = full(`${histogram}_bucket`);
  const query = `histogram_quantile(${share}, sum by (${by}, le) (increase(${buckets}[${window}])))`;
  return { name, unit: 'seconds', query, needs: [buckets] };
}

function full(name: string): string {
  return `${METRIC_PREFIX}${name}`;
}
