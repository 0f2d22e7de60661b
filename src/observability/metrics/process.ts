/** The metrics of every process about itself. */
import { defineGauge, type Metrics } from '../../kube/process/metrics.ts';

export const BUILD_INFO = defineGauge({
  name: 'build_info',
  help: 'Always 1: the version and the part of the program. It is missing while the process is.',
  labels: { process: ['controllers', 'hosting', 'sync'], version: { of: 'versions', most: 1 } },
  processes: ['controllers', 'hosting', 'sync'],
  writtenIn: 'src/observability/metrics/process.ts',
});

export const PROCESS_METRICS = [BUILD_INFO];

export function registerBuildInfo(
  metrics: Metrics,
  labels: { readonly process: 'controllers' | 'hosting' | 'sync'; readonly version: string },
): void {
  metrics.gauge(BUILD_INFO).set(labels, 1);
}
