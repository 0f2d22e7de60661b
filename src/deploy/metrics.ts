/**
 * Renders what a Prometheus and a Grafana in the cluster need to find the metrics, rules and dashboards of kubenode. Pure, but for the files
 * of the dashboards.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE } from '../api/names.ts';
import type { KubeObject } from '../kube/objects/object.ts';
import { RULE_GROUPS } from '../observability/prometheus/groups.ts';
import type { RuleGroup } from '../observability/prometheus/rule.ts';
import { ruleGroups } from '../observability/prometheus/rule-file.ts';
import type { RuleScope } from '../observability/slos/slo.ts';
import { type DeployedProgram, HEALTH_PORT, podLabels } from './programs.ts';

/** Who finds the metrics: the Prometheus Operator by its kinds, or a Prometheus by the annotations of Services. */
export type MetricsMode = 'operator' | 'annotations';

const MONITORING = 'monitoring.coreos.com/v1';
export const SERVICE_MONITOR = { apiVersion: MONITORING, kind: 'ServiceMonitor' };
const PORT = 'metrics';
const PART_METRICS = { 'app.kubernetes.io/part-of': 'kubenode-metrics' };
/** The label by which the sidecar of Grafana's chart finds dashboards. */
const DASHBOARD_LABEL = { grafana_dashboard: '1' };
/** Names the folder in Grafana, for a sidecar with `folderAnnotation: grafana_folder`. */
const FOLDER_ANNOTATION = { grafana_folder: 'kubenode' };

/** The folder is the same for the source and the package: both have it beside `src` and `dist`. */
const DASHBOARDS = new URL('../../deploy/grafana/', import.meta.url);

/** In the order in which they are applied. The NetworkPolicies of the programs already permit scrapes. */
export function renderMetrics(
  programs: readonly DeployedProgram[],
  mode: MetricsMode,
): readonly KubeObject[] {
  const found = programs
    .filter(({ pagePort }) => pagePort === undefined)
    .flatMap((program) =>
      mode === 'operator'
        ? [metricsService(program, {}), serviceMonitor(program)]
        : [metricsService(program, SCRAPE)],
    );
  const rules = mode === 'operator' ? scopesOf(programs).map(prometheusRule) : [];
  return [...found, ...rules, ...dashboards()];
}

/** The usual job `kubernetes-service-endpoints` of Prometheus looks for these annotations. */
const SCRAPE = {
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': String(HEALTH_PORT),
  'prometheus.io/path': '/metrics',
};

/**
 * A Service without an address: Prometheus reads each pod. Also those that are not ready, whose metrics tell why.
 */
function metricsService(program: DeployedProgram, annotations: Readonly<Record<string, string>>): KubeObject {
  const metadata = metadataOf(`${program.name}-metrics`, podLabels(program));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, annotations },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: podLabels(program),
      ports: [{ name: PORT, port: HEALTH_PORT, targetPort: HEALTH_PORT, protocol: 'TCP' }],
    },
  };
}

function serviceMonitor(program: DeployedProgram): KubeObject {
  return {
    ...SERVICE_MONITOR,
    metadata: metadataOf(program.name, podLabels(program)),
    spec: {
      // Not all Services of the program: that of webhooks has no metrics.
      selector: { matchLabels: { ...podLabels(program), ...PART_METRICS } },
      // honorLabels stays false: a label that a process sends does not replace that of its target.
      endpoints: [{ port: PORT, path: '/metrics', interval: '30s', scrapeTimeout: '10s' }],
      sampleLimit: SAMPLE_LIMIT,
    },
  };
}

/** A process of kubenode has at most this many series (DAT-12). */
const SAMPLE_LIMIT = 20_000;

/** A cluster with controllers has their rules, a hub those of sync and hosting. */
function scopesOf(programs: readonly DeployedProgram[]): readonly RuleScope[] {
  const has = (component: string): boolean => programs.some((program) => program.component === component);
  return [
    ...(has('controllers') ? (['cluster'] as const) : []),
    ...(has('sync') || has('hosting') ? (['hub'] as const) : []),
  ];
}

function prometheusRule(scope: RuleScope): KubeObject {
  const groups: readonly RuleGroup[] = RULE_GROUPS[scope];
  return {
    apiVersion: MONITORING,
    kind: 'PrometheusRule',
    metadata: metadataOf(`kubenode-${scope}`),
    spec: { groups: ruleGroups(groups) },
  };
}

function dashboards(): readonly KubeObject[] {
  const files = readdirSync(DASHBOARDS).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...metadataOf(`kubenode-dashboard-${file.replace('.json', '')}`, DASHBOARD_LABEL),
      annotations: FOLDER_ANNOTATION,
    },
    data: { [`kubenode-${file}`]: readFileSync(new URL(file, DASHBOARDS), 'utf8') },
  }));
}

function metadataOf(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject['metadata'] {
  return {
    name,
    namespace: NAMESPACE,
    labels: {
      'app.kubernetes.io/name': 'kubenode',
      ...labels,
      ...PART_METRICS,
      [LABEL_MANAGED_BY]: MANAGED_BY,
    },
  };
}
