/** Makes dashboards of Grafana with its Foundation SDK, whose types are the schema. The same description gives the same bytes. Pure. */
import {
  DashboardBuilder,
  type DashboardLink,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Dashboard as GrafanaDashboard,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DOCS_URL } from '../alerts/runbook.ts';
import { DATA_SOURCE, DATA_SOURCE_VARIABLE, grafanaPanel } from './grafana-panel.ts';
import type { Dashboard, Panel, Row } from './panel.ts';
import { CLUSTER_SERIES } from './promql.ts';

const TAG = 'kubenode';
/** Where `kubenode console` listens by default. A person changes it at the top of a dashboard. */
export const CONSOLE_URL = 'http://127.0.0.1:8484/';
/** The columns of the grid of Grafana, and how many lines of it each form needs. */
export const GRID_COLUMNS = 24;
const HEIGHTS: Readonly<Record<Panel['form'], number>> = { Now: 4, Trend: 8, Bars: 8, Table: 8 };

export function grafanaDashboard(dashboard: Dashboard): GrafanaDashboard {
  const builder = new DashboardBuilder(dashboard.title)
    .uid(dashboard.uid)
    .description(dashboard.description)
    .tags([TAG])
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .readonly()
    .variables(variablesOf(dashboard))
    .links(LINKS);
  let ids = 0;
  const nextId = (): number => (ids += 1);
  for (const row of dashboard.rows) addRow(builder, row, nextId);
  return builder.build();
}

/** The panels of a row share its width. The SDK places them one after the other. */
function addRow(builder: DashboardBuilder, { question, panels }: Row, nextId: () => number): void {
  builder.withRow(new RowBuilder(question).id(nextId()));
  const size = {
    width: Math.floor(GRID_COLUMNS / panels.length),
    height: Math.max(...panels.map(({ form }) => HEIGHTS[form])),
  };
  for (const panel of panels) builder.withPanel(grafanaPanel(panel, nextId(), size));
}

function variablesOf({ hasClusters }: Dashboard): Parameters<DashboardBuilder['variables']>[0] {
  const dataSource = new DatasourceVariableBuilder(DATA_SOURCE_VARIABLE)
    .label('Prometheus')
    .type('prometheus');
  const console = new TextBoxVariableBuilder('console')
    .label('Console')
    .description('The address of kubenode console, for the link to it.')
    .defaultValue(CONSOLE_URL)
    .current({ text: CONSOLE_URL, value: CONSOLE_URL });
  return hasClusters ? [dataSource, clusterVariable(), console] : [dataSource, console];
}

/** All is `.*`, so that it also selects the series of a Prometheus of one cluster, which have no such label. */
function clusterVariable(): QueryVariableBuilder {
  return new QueryVariableBuilder('cluster')
    .label('Cluster')
    .datasource(DATA_SOURCE)
    .query({ query: `label_values(${CLUSTER_SERIES}, cluster)`, refId: 'clusters' })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: ['All'], value: ['$__all'] });
}

const LINKS = [
  visible(
    new DashboardLinkBuilder('kubenode')
      .type(DashboardLinkType.Dashboards)
      .tags([TAG])
      .includeVars(true)
      .keepTime(true),
  ),
  visible(new DashboardLinkBuilder('Console').url('${console:raw}').icon('external link').targetBlank(true)),
  visible(
    new DashboardLinkBuilder('Runbooks').url(`${DOCS_URL}runbooks/alerts.md`).icon('doc').targetBlank(true),
  ),
];

/** The SDK puts links into a menu, where a person on call does not look. */
function visible(link: DashboardLinkBuilder): { build(): DashboardLink } {
  const { placement: _, ...rest } = link.build();
  return { build: () => rest };
}
