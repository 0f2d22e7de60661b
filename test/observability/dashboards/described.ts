/** The panels of all dashboards by their names, and their queries as Prometheus gets them. */
import { DASHBOARDS } from '../../../src/observability/dashboards/dashboards.ts';
import type { Panel } from '../../../src/observability/dashboards/panel.ts';

export function describedPanels(): readonly (readonly [name: string, panel: Panel])[] {
  return DASHBOARDS.flatMap(({ title, rows }) =>
    rows.flatMap(({ panels }) => panels.map((panel) => [`${title}: ${panel.title}`, panel] as const)),
  );
}

/** Replaces what Grafana replaces: all clusters, and a window of some scrapes. */
export function asGrafana(expr: string): string {
  return expr.replaceAll('$cluster', '.*').replaceAll('$__rate_interval', '1m');
}
