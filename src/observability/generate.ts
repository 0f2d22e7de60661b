/** Writes what is generated from the metrics, objectives, alerts and dashboards: a part of `npm run generate`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dashboardFiles } from './dashboards/dashboards.ts';
import { alertsPage } from './pages/alerts-page.ts';
import { metricsPage } from './pages/metrics-page.ts';
import { RULE_GROUPS } from './prometheus/groups.ts';
import { ruleFile } from './prometheus/rule-file.ts';

/** The texts of the files, by their path from the root of the repository. */
export function observabilityFiles(): ReadonlyMap<string, string> {
  const { cluster, hub } = RULE_GROUPS;
  return new Map([
    [
      'deploy/prometheus/cluster.yaml',
      ruleFile('For a Prometheus that scrapes `kubenode controllers` of a cluster.', cluster),
    ],
    [
      'deploy/prometheus/hub.yaml',
      ruleFile('For a Prometheus that scrapes `kubenode sync` and `kubenode hosting` of a hub.', hub),
    ],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/alerts.md', alertsPage()],
    ...dashboardFiles(),
  ]);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  for (const [path, text] of observabilityFiles()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
