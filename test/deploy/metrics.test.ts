/** What `--metrics` renders: Services of every pod, what finds them, and rules and dashboards. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderMetrics } from '../../src/deploy/metrics.ts';
import {
  CONTROLLERS,
  type DeployedProgram,
  HOSTING,
  SYNC,
  SYNC_WITH_WEBHOOKS,
} from '../../src/deploy/programs.ts';
import { renderWorkload } from '../../src/deploy/workload.ts';
import { listAt, valueAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';

type Mode = Parameters<typeof renderMetrics>[1];

function named(programs: readonly DeployedProgram[], mode: Mode): readonly string[] {
  return renderMetrics(programs, mode)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => !name.startsWith('ConfigMap '));
}

function found(kind: string, objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter((object) => object.kind === kind);
}

/** Whether an object with these labels is selected. */
function selects(selector: unknown, labels: unknown): boolean {
  const own = Object.entries(labels as Record<string, string>).map(([name, value]) => `${name}=${value}`);
  return Object.entries(selector as Record<string, string>).every(([name, value]) =>
    own.includes(`${name}=${value}`),
  );
}

const annotationsOf = (mode: Mode): unknown =>
  found('Service', renderMetrics([SYNC], mode))[0]?.metadata.annotations;

describe('renderMetrics', () => {
  it.each<[name: string, programs: readonly DeployedProgram[], mode: Mode, want: readonly string[]]>([
    [
      'a cluster with the operator',
      [CONTROLLERS],
      'operator',
      [
        'Service kubenode-controllers-metrics',
        'ServiceMonitor kubenode-controllers',
        'PrometheusRule kubenode-cluster',
      ],
    ],
    [
      'a hub that hosts, with the operator',
      [SYNC, HOSTING],
      'operator',
      [
        'Service kubenode-sync-metrics',
        'ServiceMonitor kubenode-sync',
        'Service kubenode-hosting-metrics',
        'ServiceMonitor kubenode-hosting',
        'PrometheusRule kubenode-hub',
      ],
    ],
    [
      'a hub that is a cluster, without the operator',
      [SYNC, CONTROLLERS],
      'annotations',
      ['Service kubenode-sync-metrics', 'Service kubenode-controllers-metrics'],
    ],
  ])('DAT-08 renders for %s what finds its metrics', (_, programs, mode, want) => {
    expect(named(programs, mode)).toEqual(want);
  });

  it('DAT-08 leads from each ServiceMonitor to its Service and from there to its pods, and to no other', () => {
    const programs = [SYNC_WITH_WEBHOOKS, CONTROLLERS, HOSTING];
    const objects = renderMetrics(programs, 'operator');
    const workloads = programs.flatMap((program) => {
      const settings = { image: 'a', replicas: 1, egressPorts: [] };
      return renderWorkload(program, settings);
    });
    const services = [...found('Service', objects), ...found('Service', workloads)];
    const pods = found('Deployment', workloads).map((each) => valueAt(each, 'spec', 'template'));
    for (const monitor of found('ServiceMonitor', objects)) {
      const selector = valueAt(monitor, 'spec', 'selector', 'matchLabels');
      const own = services.filter(({ metadata }) => selects(selector, metadata.labels));
      expect(own.map(({ metadata }) => metadata.name)).toEqual([`${monitor.metadata.name}-metrics`]);
      const selected = pods.filter((pod) =>
        selects(valueAt(own[0], 'spec', 'selector'), valueAt(pod, 'metadata', 'labels')),
      );
      expect(selected).toHaveLength(1);
      expect(listAt(own[0], 'spec', 'ports')).toMatchObject([
        { name: 'metrics', port: 8080, targetPort: 8080 },
      ]);
      expect(listAt(monitor, 'spec', 'endpoints')).toMatchObject([{ port: 'metrics', path: '/metrics' }]);
    }
  });

  it('annotates Services only where no ServiceMonitor finds them: nothing is scraped twice', () => {
    expect(annotationsOf('operator')).toEqual({});
    expect(annotationsOf('annotations')).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '8080',
      'prometheus.io/path': '/metrics',
    });
  });

  it('has each dashboard in a ConfigMap that the sidecar of Grafana finds, below its limit of 1 MiB', () => {
    const maps = found('ConfigMap', renderMetrics([SYNC], 'annotations'));
    expect(maps).toHaveLength(readdirSync('deploy/grafana').length);
    for (const map of maps) {
      expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
      const [text = ''] = Object.values(map['data'] as Record<string, string>);
      expect(JSON.parse(text)).toMatchObject({ uid: map.metadata.name.replace('-dashboard', '') });
      expect(text.length).toBeLessThan(1024 ** 2);
    }
  });
});
