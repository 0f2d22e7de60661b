/** Lets the programs of a fleet serve metrics, each on a port that stays the same when it is started again. */
import { findFreePort } from '../../os/net/ports.ts';
import { type LocalMetrics, metricsUrl } from '../metrics/metrics.ts';
import { type MetricsTarget, scrapeTargetOf } from '../metrics/targets.ts';
import type { FleetProgram } from './programs.ts';

export interface ServedPrograms {
  readonly programs: readonly FleetProgram[];
  /** The targets that they are, also while they do not run. */
  readonly expected: readonly MetricsTarget[];
}

/** The programs that ask Prometheus: checks of stages and component sets, queries of DefenderPolicies, and the lines of the console. */
const ASKING = ['sync', 'controllers', 'console'];

export async function serveMetrics(
  programs: readonly FleetProgram[],
  metrics: Pick<LocalMetrics, 'port'>,
  webhookPort: number,
): Promise<ServedPrograms> {
  const taken = new Set([webhookPort]);
  const served: FleetProgram[] = [];
  const expected: MetricsTarget[] = [];
  for (const program of programs) {
    const added = await addMetrics(program, metrics, taken);
    served.push(added.program);
    expected.push(...added.targets);
  }
  return { programs: served, expected };
}

interface AddedMetrics {
  readonly program: FleetProgram;
  readonly targets: readonly MetricsTarget[];
}

/** A program that serves no metrics, as the console, gets no port. */
async function addMetrics(
  program: FleetProgram,
  metrics: Pick<LocalMetrics, 'port'>,
  taken: Set<number>,
): Promise<AddedMetrics> {
  const [name = ''] = program.name.split(' ');
  const start = program.command.indexOf(name);
  const port = await findFreePort('127.0.0.1', taken);
  const asking = ASKING.includes(name) ? ['--prometheus-url', metricsUrl(metrics)] : [];
  const own = ['--port', String(port), ...asking];
  const target = scrapeTargetOf({ args: [...program.command.slice(start), ...own], listening: [] });
  if (target === undefined) {
    return { program: { ...program, command: [...program.command, ...asking] }, targets: [] };
  }
  taken.add(port);
  // Its series go on when this command is started again, with other ports.
  const named = { ...target, labels: { ...target.labels, instance: program.name } };
  return { program: { ...program, command: [...program.command, ...own] }, targets: [named] };
}
