/** Streams a URL to a file of this machine's disk, within limits. What arrived of an interrupted download is kept and continued. */
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path/posix';
import { OsError, systemCode } from '../../../os/errors.ts';
import { toDiskError } from '../../../os/files.ts';
import { HttpFailure } from '../../../os/net/http.ts';
import { readRetryAfterMs } from '../../../os/net/retry-after.ts';
import { HostError, RetryLater } from '../errors.ts';
import type { DownloadLimits } from '../port.ts';
import { createPacer } from './pacer.ts';
import { openPartial, rangeHeaders, readPartial, removePartial, sourceFile, WrongRest } from './partial.ts';
import { type DownloadSource, openSource } from './source.ts';

/** A timer of Node.js takes whole milliseconds, and ends at once when they do not fit into 31 bits. */
const LONGEST_MS = 2 ** 31 - 1;

export type DownloadMachine = Pick<DownloadSource, 'clock' | 'platform' | 'registriesFile'>;

export async function downloadTo(
  url: string,
  to: string,
  limits: DownloadLimits,
  machine: DownloadMachine,
): Promise<void> {
  const late = AbortSignal.timeout(Math.min(LONGEST_MS, Math.ceil(limits.timeoutMs)));
  const signal = limits.signal ? AbortSignal.any([late, limits.signal]) : late;
  await mkdir(dirname(to), { recursive: true });
  const source = { url, sha256: limits.sha256, signal, ...machine };
  try {
    await receive(source, to, limits).catch(async (error: unknown) => {
      if (!(error instanceof WrongRest)) throw error;
      await removePartial(to);
      await receive(source, to, limits);
    });
    await rm(sourceFile(to), { force: true });
  } catch (error) {
    if (error instanceof HostError) await removePartial(to);
    // A full disk is not a fault of the URL.
    throw isFullDisk(error) ? toDiskError(error, to) : downloadError(error, source);
  }
}

async function receive(source: DownloadSource, to: string, limits: DownloadLimits): Promise<void> {
  const { url, clock, signal } = source;
  const { maxBytes, bytesPerSecond } = limits;
  const partial = await readPartial(to, url);
  const response = await openSource(source, rangeHeaders(partial));
  const { file, bytes: kept } = await openPartial(to, url, { partial, response });
  const pacer = bytesPerSecond === undefined ? undefined : createPacer(clock, bytesPerSecond);
  try {
    let bytes = kept;
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > maxBytes) {
        throw new HostError('TooLarge', `${url} is larger than ${maxBytes} bytes`, { where: url });
      }
      await file.writeFile(piece);
      await pacer?.pass(piece.length, signal);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

function downloadError(error: unknown, { url, signal, clock }: DownloadSource): unknown {
  if (error instanceof OsError) return error;
  if (signal.aborted) return failed(url, 'it took too long', error);
  if (error instanceof HttpFailure && error.retryable) {
    const retryAfterMs = readRetryAfterMs(error.headers?.get('retry-after'), clock.now());
    return new RetryLater(`${url} could not be downloaded: ${error.message}`, {
      where: url,
      cause: error,
      retryAfterMs,
    });
  }
  const reason = error instanceof HttpFailure ? error.message : (error as NodeJS.ErrnoException).code;
  return reason === undefined ? error : failed(url, reason, error);
}

function failed(url: string, reason: string, cause: unknown): HostError {
  return new HostError('Download', `${url} could not be downloaded: ${reason}`, { where: url, cause });
}

function isFullDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '');
}
