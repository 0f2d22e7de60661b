/** Follows the errors of GPUs in the journal of the host. A host without the driver of NVIDIA has none, and is not asked. */
import type { Host } from '../host/port.ts';
import {
  type LoggedXid,
  mergeXids,
  parseOldestEntry,
  parseXids,
  type ReportedXids,
  reportXids,
  XID_KEPT_MS,
} from './xid.ts';

export interface XidLog {
  /** Undefined: the host has no GPU of NVIDIA. Throws when the journal cannot be read. */
  read(now: Date): Promise<ReportedXids | undefined>;
}

/** The driver has a folder for each GPU, named by its address. */
const GPUS = '/proc/driver/nvidia/gpus';
const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4 * 1024 ** 2 };
/** Entries are written a moment after their time. */
const OVERLAP_MS = 60_000;
const NO_MATCH = 1;

export function createXidLog({
  files,
  processes,
  capabilities,
}: Pick<Host, 'files' | 'processes' | 'capabilities'>): XidLog {
  let logged: readonly LoggedXid[] = [];
  let since: Date | undefined;
  let readAt: Date | undefined;

  async function journal(...args: readonly string[]): Promise<string> {
    const argv = ['journalctl', '--quiet', '--no-pager', '--utc', ...args];
    const { exitCode, output, truncated } = await processes.run(argv, LIMITS);
    const isEmpty = exitCode === NO_MATCH && output.trim() === '';
    if ((exitCode === 0 || isEmpty) && !truncated) return output;
    throw new Error(`journalctl ended with ${exitCode}: ${output.slice(0, 200)}`);
  }

  async function readErrors(from: Date): Promise<readonly LoggedXid[]> {
    const time = `--since=@${Math.floor(from.getTime() / 1000)}`;
    const fields = ['--output=json', '--output-fields=MESSAGE'];
    return parseXids(await journal('--identifier=kernel', '--grep=NVRM: Xid', time, ...fields));
  }

  return {
    async read(now) {
      if (!capabilities.programs || !(await files.stat(GPUS))) return undefined;
      const gpus = await files.list(GPUS);
      since ??= parseOldestEntry(await journal('--list-boots'));
      if (!since) throw new Error('the journal names no boot');
      const from = new Date(readAt ? readAt.getTime() - OVERLAP_MS : now.getTime() - XID_KEPT_MS);
      logged = mergeXids(logged, await readErrors(from), now);
      readAt = now;
      return reportXids({ logged, gpus, since, now });
    },
  };
}
