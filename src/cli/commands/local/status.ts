import { Command } from 'commander';
import { type LocalFleetStatus, readLocalFleetStatus } from '../../../local/status.ts';
import { type PollOptions, pollUntil } from '../../../os/poll.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult, type Table } from '../../output.ts';
import { addDirOption } from './dir-option.ts';
import { withLocalErrors } from './errors.ts';

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
  printLocalStatus(io, flags, await readStatus(io, flags));
}

export async function showLocalStatusWhenReady(io: Io, flags: StatusFlags, timeoutMs: number): Promise<void> {
  const { clock, signal } = io;
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  const read = (): Promise<ShownStatus> => readStatus(io, flags);
  printLocalStatus(io, flags, await awaitReady(read, { clock, everyMs: 500, deadlineMs, signal }));
}

type ShownStatus = Pick<LocalFleetStatus, 'folder' | 'clusters'>;

/**
 * Resolves to the first status in which all processes are ready or one has ended, and to the last one when the time is over: a
 * process that was ready answers late while others start.
 */
export async function awaitReady(
  read: () => Promise<ShownStatus>,
  options: PollOptions,
): Promise<ShownStatus> {
  let status: ShownStatus = { folder: '', clusters: [] };
  await pollUntil(async () => {
    status = await read();
    return status.clusters.every(({ state }) => state !== 'NotReady');
  }, options);
  return status;
}

async function readStatus(io: Io, { dir }: StatusFlags): Promise<ShownStatus> {
  return (await readLocalFleetStatus(dir, io.clock.now())) ?? { folder: dir, clusters: [] };
}

function printLocalStatus(io: Io, flags: StatusFlags, status: ShownStatus): void {
  printResult(io, flags.output, status, () => createTable(status));
  const ready = status.clusters.length > 0 && status.clusters.every(({ state }) => state === 'Ready');
  if (!ready) setExitCode(io, EXIT.failed);
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
