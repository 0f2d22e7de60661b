/** The dashboards as Grafana loads them, and each of their queries in a real Prometheus. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DashboardLinkType,
  type Dashboard as GrafanaDashboard,
  type Panel as GrafanaPanel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as units from '@grafana/grafana-foundation-sdk/units';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_PORT } from '../../../src/console/server/server.ts';
import { DASHBOARDS, dashboardFiles } from '../../../src/observability/dashboards/dashboards.ts';
import { CONSOLE_URL, GRID_COLUMNS } from '../../../src/observability/dashboards/grafana.ts';
import { RULE_GROUPS } from '../../../src/observability/prometheus/groups.ts';
import { NODE_USE } from '../../../src/observability/prometheus/utilization.ts';
import { eventually } from '../../support/eventually.ts';
import { hasNodeExporter, type NodeExporter, startNodeExporter } from '../../support/node-exporter.ts';
import { hasPrometheus, type PrometheusServer, startPrometheus } from '../../support/prometheus.ts';
import { asGrafana, describedPanels } from './described.ts';
import { createFilledMetrics } from './filled.ts';

const files = dashboardFiles().map(([path, text]) => [path, JSON.parse(text) as GrafanaDashboard] as const);
const described = describedPanels();
const queries = described.flatMap(([title, panel]) =>
  panel.queries.map(({ expr }, index) => [`${title}, query ${index + 1}`, expr] as const),
);

describe('the dashboards', () => {
  it('DAT-07 are those of the fleet, its clusters, rollouts, repairs, sync, agents and nodes', () => {
    expect(DASHBOARDS.map(({ uid }) => uid)).toEqual(
      ['fleet', 'cluster', 'rollouts', 'repairs', 'sync', 'agents', 'nodes'].map(
        (name) => `kubenode-${name}`,
      ),
    );
  });

  it.each(files)('DAT-07 fill the grid of Grafana without an overlap: %s', (_path, { panels = [] }) => {
    const cells = panels.flatMap(({ id, gridPos }) => cellsOf(id, gridPos));
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos }) => (gridPos?.x ?? 0) + (gridPos?.w ?? 0)))).toBe(
      GRID_COLUMNS,
    );
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(DASHBOARDS.map((dashboard) => [dashboard.title, dashboard] as const))(
    'DAT-07 answer a question in each row, the first one by large numbers in a color: %s',
    (_title, { rows }) => {
      expect(rows.filter(({ question }) => !question.endsWith('?'))).toEqual([]);
      const [first] = rows;
      expect(first?.panels.filter(({ form }) => form !== 'Now')).toEqual([]);
      expect(first?.panels.filter(({ thresholds }) => thresholds.length > 1).length).toBeGreaterThan(2);
    },
  );

  it.each(described)('DAT-07 say what they count, in a unit that Grafana has: %s', (_title, panel) => {
    expect(panel.description).toMatch(/^[A-Z].+\.$/);
    expect(Object.values(units)).toContain(panel.unit);
    const limits = panel.thresholds.slice(1).map(([from]) => Number(from));
    expect(limits).toEqual(limits.toSorted((a, b) => a - b));
    const uids = DASHBOARDS.map(({ uid }) => uid);
    expect(panel.seeUid === undefined || uids.includes(panel.seeUid)).toBe(true);
  });

  it.each(files)('DAT-07 link to each other and to the console: %s', (_path, { links = [], templating }) => {
    expect(
      links.map(({ type, tags, url }) => (type === DashboardLinkType.Dashboards ? tags.join() : url)),
    ).toEqual(['kubenode', `\${console:raw}`, expect.stringMatching(/runbooks\/alerts\.md$/)]);
    expect(templating.list?.find(({ name }) => name === 'console')?.query).toBe(CONSOLE_URL);
    expect(CONSOLE_URL).toBe(`http://127.0.0.1:${CONSOLE_PORT}/`);
  });

  it('DAT-07 show each metric that an alert reads', () => {
    const shown = queries.map(([, expr]) => expr).join('\n');
    const alerts = Object.values(RULE_GROUPS).flatMap((groups) => groups.flatMap(({ alerts: own }) => own));
    const read = alerts.flatMap(({ expr }) => expr.match(/kubenode_[a-z_]+/g) ?? []);
    expect(read.length).toBeGreaterThan(20);
    expect(read.map((name) => name.replace(/_count$/, '')).filter((name) => !shown.includes(name))).toEqual(
      [],
    );
  });

  it('DAT-07 paint a value that is missing in a color of its own', () => {
    const panels = files.flatMap(([, { panels: all = [] }]) => all.filter(isPanel));
    const plain = panels.filter(
      ({ fieldConfig }) => !JSON.stringify(fieldConfig).includes('"no data","color":"purple"'),
    );
    expect(plain.map(({ title }) => title)).toEqual([]);
  });
});

describe.skipIf(!hasPrometheus)('each query in a real Prometheus', () => {
  const servers: Server[] = [];
  let prometheus: PrometheusServer;
  let nodeExporter: NodeExporter | undefined;

  beforeAll(async () => {
    const targets: Record<string, string> = {};
    for (const process of ['controllers', 'sync', 'hosting', 'agent']) {
      targets[process] = await serve(createFilledMetrics(process), servers);
    }
    nodeExporter = hasNodeExporter ? await startNodeExporter() : undefined;
    if (nodeExporter) targets['node'] = nodeExporter.address;
    prometheus = await startPrometheus(targets);
    // An increase needs two samples of each process.
    const scraped = `count(count_over_time(up[1m]) >= 3) == ${Object.keys(targets).length}`;
    const rules = [
      'kubenode:slo_errors:ratio_rate1h{slo="drift-corrected"}',
      ...(nodeExporter ? Object.values(NODE_USE) : []),
    ];
    const last = [scraped, ...rules].join(' and on () ');
    const find = async (): Promise<true | undefined> =>
      (await prometheus.query(last).catch(() => [])).length > 0 ? true : undefined;
    await eventually(find, 'Prometheus has not evaluated the rules over what it scraped');
  });

  afterAll(async () => {
    await prometheus.stop();
    await nodeExporter?.stop();
    for (const server of servers) server.close();
  });

  it.each(queries)('DAT-07 is accepted and returns series: %s', async (_title, expr) => {
    const found = await prometheus.query(asGrafana(expr));
    const needsNodeExporter = Object.values(NODE_USE).some((name) => expr.includes(name));
    expect(found.length > 0).toBe(hasNodeExporter || !needsNodeExporter);
  });

  it('notices a query that is wrong, and one without series', async () => {
    await expect(prometheus.query('sum by (')).rejects.toThrow(/parse error/);
    expect(await prometheus.query('kubenode_none')).toEqual([]);
  });
});

async function serve(read: () => Promise<string>, servers: Server[]): Promise<string> {
  const server = createServer((_request, response) => {
    void read().then((text) =>
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
    );
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type AnyPanel = NonNullable<GrafanaDashboard['panels']>[number];

function isPanel(panel: AnyPanel): panel is GrafanaPanel {
  return panel.type !== 'row';
}

function cellsOf(id: number | undefined, place: AnyPanel['gridPos']): readonly string[] {
  if (!place) throw new Error(`the panel ${id} has no place`);
  const { x, y, w, h } = place;
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`);
}
