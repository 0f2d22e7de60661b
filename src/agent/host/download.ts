/** Streams a URL to a file of this machine's disk, within limits. */
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../os/clock.ts';
import { systemCode } from '../../os/errors.ts';
import { toDiskError } from '../../os/files.ts';
import { HttpFailure, openUrl } from '../../os/net/http.ts';
import { HostError } from './errors.ts';
import type { DownloadLimits } from './port.ts';

export async function downloadTo(
  url: string,
  to: string,
  { maxBytes, timeoutMs, bytesPerSecond = Number.POSITIVE_INFINITY, signal: stopped }: DownloadLimits,
  clock: Clock,
): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs);
  const signal = stopped ? AbortSignal.any([late, stopped]) : late;
  await mkdir(dirname(to), { recursive: true });
  const file = await open(to, 'w', 0o600);
  const startedMs = clock.monotonicMs();
  try {
    let bytes = 0;
    for await (const piece of await openSource(url, clock, signal)) {
      bytes += piece.length;
      if (bytes > maxBytes) {
        throw new HostError('TooLarge', `${url} is larger than ${maxBytes} bytes`, { where: url });
      }
      await file.writeFile(piece);
      const aheadMs = (bytes / bytesPerSecond) * 1000 - (clock.monotonicMs() - startedMs);
      if (aheadMs > 0) await clock.sleep(aheadMs, signal);
    }
    await file.sync();
  } catch (error) {
    // A full disk is not a fault of the URL.
    throw isFullDisk(error) ? toDiskError(error, to) : downloadError(error, url, signal);
  } finally {
    await file.close();
  }
}

async function openSource(
  url: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (url.startsWith('file:')) return createReadStream(fileURLToPath(url), { signal });
  return (await openUrl(url, { clock, signal })).body;
}

function downloadError(error: unknown, url: string, signal: AbortSignal): unknown {
  if (error instanceof HostError) return error;
  const reason = signal.aborted ? 'it took too long' : reasonOf(error);
  if (reason === undefined) return error;
  return new HostError('Download', `${url} could not be downloaded: ${reason}`, { where: url, cause: error });
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof HttpFailure) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return code;
}

function isFullDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '');
}
