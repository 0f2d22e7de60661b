/** The option `--metrics` of `kubenode install`: how Prometheus finds the programs, and the objects for it. */
import { LABEL_SCRAPE } from '../../../api/names.ts';
import { type MetricsMode, SERVICE_MONITOR } from '../../../deploy/metrics.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { CliError, EXIT } from '../../errors.ts';
import { type DeployFlags, programsOf } from './deploy.ts';

/** Empty without --metrics. The client is that of the cluster; undefined with --print, which asks no server. */
export async function metricsObjects(
  flags: DeployFlags,
  client: Pick<Client, 'resourceFor'> | undefined,
): Promise<readonly KubeObject[]> {
  if (flags.metrics === undefined) return [];
  const mode = flags.metrics === true ? await servedMode(client) : flags.metrics;
  // Loaded only here: most installations have no use for dashboards.
  const { renderMetrics } = await import('../../../deploy/metrics.ts');
  return renderMetrics(programsOf(flags), mode);
}

/** A cluster serves ServiceMonitors where the Prometheus Operator is installed. */
async function servedMode(client: Pick<Client, 'resourceFor'> | undefined): Promise<MetricsMode> {
  if (client === undefined) {
    throw new CliError('--print asks no server, so --metrics needs a value with it', {
      hint: 'pass --metrics=operator or --metrics=annotations',
      exitCode: EXIT.usage,
    });
  }
  try {
    await client.resourceFor(SERVICE_MONITOR.apiVersion, SERVICE_MONITOR.kind);
    return 'operator';
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return 'annotations';
    throw error;
  }
}

/** Returns what lets Prometheus through the NetworkPolicies: only a person knows its namespace. */
export function metricsHint({ metrics }: DeployFlags): string {
  if (metrics === undefined) return '';
  return `let Prometheus read the metrics: kubectl label namespace NAMESPACE_OF_PROMETHEUS ${LABEL_SCRAPE}=true\n`;
}
