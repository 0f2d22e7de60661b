/** Bounds the logs of members, which run for months. */
import { chmod, copyFile, rm, stat, truncate } from 'node:fs/promises';
import { PRIVATE_MODE } from '../../../../os/files.ts';

const LOG_BYTES = 16 * 1024 ** 2;

/** Keeps one older log. The member appends to the same file, so it is copied and emptied: what it writes in between is
 * lost. A log that cannot be bounded must not keep hosting from its control plane. */
export async function boundLog(path: string, maxBytes = LOG_BYTES): Promise<void> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size <= maxBytes) return;
  try {
    await copyFile(path, `${path}.1`);
    await chmod(`${path}.1`, PRIVATE_MODE);
  } catch {
    // On a disk that is full the copy is what is in the way.
    await rm(`${path}.1`, { force: true }).catch(() => undefined);
  }
  await truncate(path).catch(() => undefined);
}
