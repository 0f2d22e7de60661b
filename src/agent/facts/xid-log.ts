/** Reads the errors of GPUs in the journal of the host. A host without the driver of NVIDIA has none, and its journal is not read. */
import type { Host, HostProcesses } from '../host/port.ts';
import { GPU_DIRECTORY } from '../layout.ts';
import { readGpuResets } from './gpu-resets.ts';
import {
  type LoggedXid,
  MAX_KEPT,
  mergeXids,
  parseOldestEntry,
  parseXids,
  type ReportedXids,
  reportXids,
  XID_KEPT_MS,
} from './xid.ts';

export interface XidLog {
  /** Resolves to undefined on a host without a GPU of NVIDIA. Rejects when the journal cannot be read. */
  read(now: Date): Promise<ReportedXids | undefined>;
}

const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4 * 1024 ** 2 };
/** Entries are written a moment after their time. */
const OVERLAP_MS = 60_000;
const NO_MATCH = 1;
/** Other programs can take the identifier of the kernel, and so make a rule reboot the host; they cannot set the transport. */
const OF_KERNEL = '_TRANSPORT=kernel';

export function createXidLog({
  files,
  processes,
  capabilities,
}: Pick<Host, 'files' | 'processes' | 'capabilities'>): XidLog {
  let logged: readonly LoggedXid[] = [];
  let since: Date | undefined;
  let readAt: Date | undefined;

  return {
    async read(now) {
      if (!capabilities.programs || !(await files.stat(GPU_DIRECTORY))) return undefined;
      const gpus = await files.list(GPU_DIRECTORY);
      since ??= parseOldestEntry(await readJournal(processes, '--list-boots'));
      if (!since) throw new Error('the journal names no boot');
      const { errors, isCut } = await readErrors(processes, sinceTime(readFrom(readAt, now)));
      // What was logged before the oldest of them, and after the last read, is not known.
      if (isCut) since = oldestOf(errors, now);
      logged = mergeXids(logged, errors, now);
      readAt = now;
      const resets = await readGpuResets(files);
      return reportXids({ logged, resets, gpus, since, now });
    },
  };
}

/** Returns the errors since the boot, newest first. */
export async function readBootXids(processes: Pick<HostProcesses, 'run'>): Promise<readonly LoggedXid[]> {
  return (await readErrors(processes, '--boot')).errors;
}

async function readErrors(
  processes: Pick<HostProcesses, 'run'>,
  from: string,
): Promise<{ readonly errors: readonly LoggedXid[]; readonly isCut: boolean }> {
  const fields = ['--output=json', '--output-fields=MESSAGE'];
  // The newest: a GPU that fails writes thousands of lines, and the report has room for a few.
  const newest = ['--reverse', `--lines=${MAX_KEPT}`];
  const output = await readJournal(processes, '--grep=NVRM: Xid', from, ...newest, ...fields, OF_KERNEL);
  const lines = output.split('\n').filter((line) => line !== '');
  return { errors: parseXids(output), isCut: lines.length >= MAX_KEPT };
}

async function readJournal(
  processes: Pick<HostProcesses, 'run'>,
  ...args: readonly string[]
): Promise<string> {
  const argv = ['journalctl', '--quiet', '--no-pager', '--utc', ...args];
  const { exitCode, output, truncated } = await processes.run(argv, LIMITS);
  const isEmpty = exitCode === NO_MATCH && output.trim() === '';
  if ((exitCode === 0 || isEmpty) && !truncated) return output;
  throw new Error(`journalctl ended with ${exitCode}: ${output.slice(0, 200)}`);
}

function sinceTime(from: Date): string {
  return `--since=@${Math.floor(from.getTime() / 1000)}`;
}

function oldestOf(errors: readonly LoggedXid[], now: Date): Date {
  return new Date(Math.min(now.getTime(), ...errors.map(({ at }) => at.getTime())));
}

/** Reads the whole week again after the clock was set back: what was logged meanwhile is before the last time. */
function readFrom(readAt: Date | undefined, now: Date): Date {
  const isAhead = readAt !== undefined && readAt > now;
  return readAt && !isAhead ? new Date(readAt.getTime() - OVERLAP_MS) : new Date(now.getTime() - XID_KEPT_MS);
}
