/** Keeps the logs of units small while they run: a program writes to its log by itself, and may write without an end. */
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path/posix';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../../os/clock.ts';

export const LOG_BYTES = 16 * 1024 ** 2;
const EVERY_MS = 2000;

/** Shortens the logs again and again until the signal is aborted. */
export async function keepLogsSmall(
  directory: string,
  { clock, signal }: { readonly clock: Pick<Clock, 'sleep'>; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    const names = await readdir(directory).catch(() => []);
    for (const name of names.filter((each) => each.endsWith('.log'))) {
      // What cannot be shortened now is tried again: a log must not end the agent.
      await shortenLog(join(directory, name), LOG_BYTES).catch(() => undefined);
    }
    await clock.sleep(EVERY_MS, signal).catch(() => undefined);
  }
}

/** The end of the log becomes the older one. The program goes on: it writes at the end of the file, wherever that is. */
export async function shortenLog(file: string, maxBytes: number): Promise<void> {
  // Not by a thread: this asks for each log every two seconds.
  const { size } = statSync(file);
  if (size <= maxBytes) return;
  const end = createReadStream(file, { start: size - maxBytes, end: size - 1 });
  await pipeline(end, createWriteStream(`${file}.1`, { mode: 0o600 }));
  await truncate(file, 0);
}
