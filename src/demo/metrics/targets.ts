/** Plans what the Prometheus beside a local fleet scrapes: every process of kubenode that uses the fleet and serves metrics. Pure. */
import { valuesOf } from '../../cli/local/fleet-users.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { formatJson } from '../../views/text/json.ts';

export const METRICS_JOBS = ['agent', 'controllers', 'hosting', 'sync'] as const;
export type MetricsJob = (typeof METRICS_JOBS)[number];

export interface MetricsTarget {
  readonly job: MetricsJob;
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A process of kubenode that uses the fleet. */
export interface FleetProcess {
  /** The arguments of kubenode, without the program. */
  readonly args: readonly string[];
  /** The ports on which it listens. */
  readonly listening: readonly number[];
}

/**
 * Returns the targets in order, each address once. `expected` are those of processes that `kubenode start` keeps running: they stay
 * targets while they do not run, so that Prometheus reports them as down. All others come and go with their processes.
 */
export function planTargets(
  expected: readonly MetricsTarget[],
  processes: readonly FleetProcess[],
): readonly MetricsTarget[] {
  const found = processes.flatMap((process) => scrapeTargetOf(process) ?? []);
  const byAddress = new Map([...found, ...expected].map((target) => [target.address, target]));
  return [...byAddress.values()].toSorted((a, b) => byCode(sortKey(a), sortKey(b)));
}

/** Undefined for a process that serves no metrics, or of which the port is not known. */
export function scrapeTargetOf({ args, listening }: FleetProcess): MetricsTarget | undefined {
  const job = METRICS_JOBS.find((name) => name === args[0]);
  if (job === undefined || (job === 'agent' && args[1] !== 'run')) return undefined;
  const port = portOf(args, listening, job);
  if (port === undefined) return undefined;
  return {
    job,
    address: `${job === 'agent' ? LOOPBACK : hostOf(args)}:${port}`,
    labels: labelsOf(args, job),
  };
}

/** Returns the content of a file for `file_sd_configs`. */
export function scrapeTargetFile(targets: readonly MetricsTarget[], job: MetricsJob): string {
  const own = targets.filter((target) => target.job === job);
  return formatJson(own.map(({ address, labels }) => ({ targets: [address], labels })));
}

const LOOPBACK = '127.0.0.1';

/** An agent always serves metrics, on a port that it chooses; other processes only with an option, and next to other ports. */
function portOf(args: readonly string[], listening: readonly number[], job: MetricsJob): number | undefined {
  const [named] = valuesOf(args, '--port');
  if (named !== undefined && named !== '0') return /^\d+$/.test(named) ? Number(named) : undefined;
  const isServed = job === 'agent' || named !== undefined;
  return isServed && listening.length === 1 ? listening[0] : undefined;
}

function hostOf(args: readonly string[]): string {
  const [host = LOOPBACK] = valuesOf(args, '--host');
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}

/** The metrics of sync and hosting have a label `cluster` of their own: their targets have none. */
function labelsOf(args: readonly string[], job: MetricsJob): Readonly<Record<string, string>> {
  if (job === 'controllers') {
    const [cluster] = [...valuesOf(args, '--local-machines'), ...valuesOf(args, '--context')];
    return { ...optional('cluster', cluster) };
  }
  return job === 'agent' ? labelsOfAgent(args) : {};
}

function labelsOfAgent(args: readonly string[]): Readonly<Record<string, string>> {
  const [machine] = valuesOf(args, '--machine');
  const [folder = ''] = valuesOf(args, '--directory');
  const found = /.*\/clusters\/(?<cluster>[^/]+)\/machines\//.exec(folder)?.groups;
  // The port of an agent is another one after each start: with the name of its machine its series go on.
  return {
    ...optional('cluster', found?.['cluster']),
    ...optional('machine', machine),
    ...optional('instance', machine),
  };
}

function sortKey({ job, address, labels }: MetricsTarget): string {
  return [job, labels['cluster'], labels['machine'], address].join('\0');
}
