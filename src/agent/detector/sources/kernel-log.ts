/** Follows the log of the kernel. Each read gives one record, or fails at the end of the log. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Clock } from '../../../os/clock.ts';
import { systemCode } from '../../../os/errors.ts';
import type { LogLine } from '../match/log-buffer.ts';
import { type KernelRecord, parseKernelRecord } from './kernel-record.ts';
import type { FollowOptions, LogSource } from './log-source.ts';

export interface KernelLogOptions {
  /** /dev/kmsg on this machine. */
  readonly path: string;
  readonly clock: Clock;
  /** Returns the time since the kernel booted. */
  readonly uptimeMs: () => number;
}

const POLL_MS = 500;
/** A buffer of this size is longer than any record. */
const RECORD_BYTES = 8192;
const MAX_BATCH = 500;

export function createKernelLog(options: KernelLogOptions): LogSource {
  return {
    async follow(follow) {
      // Without O_NONBLOCK a read would wait in a thread for the next record, and never end.
      const handle = await open(options.path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        await followHandle(handle, options, follow);
      } finally {
        await handle.close();
      }
    },
  };
}

async function followHandle(
  handle: Pick<FileHandle, 'read'>,
  { clock, uptimeMs }: KernelLogOptions,
  { position, since, opened, deliver, signal }: FollowOptions,
): Promise<void> {
  let last = position === undefined ? -1 : Number(position);
  const bootMs = (): number => clock.now().getTime() - uptimeMs();
  // Since the boot: when the clock is set back later, new records still count.
  const firstMs = since().getTime() - bootMs();
  while (!signal.aborted) {
    const records = await readRecords(handle);
    opened();
    const fresh = records.filter(({ sequence }) => sequence > last);
    const lines = fresh
      .filter(({ message, sinceBootMs }) => message !== '' && sinceBootMs >= firstMs)
      .map(({ sinceBootMs, message }): LogLine => ({ time: new Date(bootMs() + sinceBootMs), message }));
    last = fresh.at(-1)?.sequence ?? last;
    if (fresh.length > 0) await deliver({ lines, position: String(last) });
    if (records.length === 0) await clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
}

/** Reads the next records. Resolves to none at the end of the log. */
async function readRecords(handle: Pick<FileHandle, 'read'>): Promise<readonly KernelRecord[]> {
  const records: KernelRecord[] = [];
  while (records.length < MAX_BATCH) {
    const record = await readRecord(handle);
    if (record === 'End') break;
    if (record !== 'Skipped') records.push(record);
  }
  return records;
}

async function readRecord(handle: Pick<FileHandle, 'read'>): Promise<KernelRecord | 'End' | 'Skipped'> {
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, null);
    if (bytesRead === 0) return 'End';
    return parseKernelRecord(buffer.toString('utf8', 0, bytesRead)) ?? 'Skipped';
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return 'End';
    // The record was overwritten before it was read: the next read is of the oldest that is left.
    if (systemCode(error) === 'EPIPE') return 'Skipped';
    throw error;
  }
}
