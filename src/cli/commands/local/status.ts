import { Command } from 'commander';
import { optional } from '../../../kube/objects/optional.ts';
import { findPrometheusUrl } from '../../../local/prometheus.ts';
import { type LocalFleetStatus, readLocalFleetStatus } from '../../../local/status.ts';
import { type PollOptions, pollUntil } from '../../../os/poll.ts';
import { type Table } from '../../../views/text/table.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { addDirOption } from '../../local/dir-option.ts';
import { withLocalErrors } from '../../local/errors.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

interface StatusFlags {
  readonly dir: string;
  readonly output: OutputFormat;
}

export function createLocalStatusCommand(io: Io): Command {
  return addDirOption(io, new Command('status'))
    .description('show the clusters and their processes; exits with 1 unless all are ready')
    .addOption(createOutputOption())
    .action((flags: StatusFlags) => withLocalErrors(() => showLocalStatus(io, flags)));
}

export async function showLocalStatus(io: Io, flags: StatusFlags): Promise<void> {
  const status = await readStatus(io, flags);
  const url = await findPrometheusUrl(flags.dir);
  printResult(io, flags.output, { ...status, ...optional('prometheus', url) }, () => createTable(status));
  if (url !== undefined && flags.output === 'table') io.err(`Prometheus of kubenode start: ${url}\n`);
  const ready = status.clusters.length > 0 && status.clusters.every(({ state }) => state === 'Ready');
  if (!ready) setExitCode(io, EXIT.failed);
}

export type ShownStatus = Pick<LocalFleetStatus, 'folder' | 'clusters'>;

export interface ReadyFleetWait extends PollOptions {
  readonly read: () => Promise<ShownStatus>;
  readonly onStep: (step: string) => void;
}

/**
 * Resolves when all processes are ready, one has ended, or the time is over: a process that was ready answers late while others
 * start.
 */
export async function awaitReady({ read, onStep, ...options }: ReadyFleetWait): Promise<void> {
  await pollUntil(async () => {
    const { clusters } = await read();
    const late = clusters.filter(({ state }) => state === 'NotReady');
    if (late.length === 0 || clusters.some(({ state }) => state === 'Stopped')) return true;
    onStep(`waiting for ${late.map(({ name, because }) => `${name}: ${because}`).join('; ')}`);
    return false;
  }, options);
}

export async function readStatus(io: Io, { dir }: Pick<StatusFlags, 'dir'>): Promise<ShownStatus> {
  return (await readLocalFleetStatus(dir, io.clock.now())) ?? { folder: dir, clusters: [] };
}

function createTable({ folder, clusters }: ShownStatus): Table {
  return {
    columns: ['name', 'state', 'server', 'processes', 'because'],
    rows: clusters.map(({ name, state, server, processes, because }) => {
      const ready = processes.filter((process) => process.state === 'Ready').length;
      return [name, state, server, `${ready}/${processes.length}`, because];
    }),
    empty: `no local clusters in ${folder}; start them with: kubenode local up`,
  };
}
