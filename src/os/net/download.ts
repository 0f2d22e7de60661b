/**
 * Downloads one file whose checksum is known beforehand. A partial download is kept, so an interrupted one resumes
 * where it stopped, in this process or in the next one.
 */
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import { OsError } from '../errors.ts';
import { sha256OfFile, toDiskError } from '../files.ts';
import { HttpFailure, openUrl } from './http.ts';

export interface FileDownload {
  readonly url: string;
  readonly sha256: string;
  /** Gets this name once it is complete and its checksum is correct. */
  readonly to: string;
  /** The partial file. Its name should contain the checksum, so that it is never resumed with other content. */
  readonly part: string;
}

export interface DownloadContext {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Reports progress to a person. */
  readonly onStep: (step: string) => void;
  /** The connection counts as lost after this long without a byte. */
  readonly silenceMs?: number;
  /** Pause before the second attempt; it doubles with each further one. */
  readonly pauseMs?: number;
}

const ATTEMPTS = 5;
const PAUSE_MS = 1000;
const PROGRESS_MS = 2000;

export async function downloadFile(file: FileDownload, context: DownloadContext): Promise<void> {
  await fetchPart(file, context);
  if ((await sha256OfFile(file.part)) !== file.sha256) {
    // A proxy may have mixed up the ranges: download it once more, from the first byte.
    await rm(file.part, { force: true });
    await fetchPart(file, context);
    await verifyChecksum(file);
  }
  await rename(file.part, file.to);
}

async function verifyChecksum({ url, sha256, part }: FileDownload): Promise<void> {
  const found = await sha256OfFile(part);
  if (found === sha256) return;
  await rm(part, { force: true });
  throw new OsError('Checksum', `wrong checksum: expected sha256 ${sha256}, got ${found}`, {
    where: url,
    hint: 'do not use the file; check the mirror or proxy in between, then try again',
  });
}

/** Repeats until the file is complete. Gives up on an answer that is final, or after ATTEMPTS. */
async function fetchPart(file: FileDownload, context: DownloadContext): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await fetchRest(file, context);
      return;
    } catch (error) {
      context.signal?.throwIfAborted();
      const retryable = error instanceof HttpFailure && error.retryable;
      if (!retryable || attempt === ATTEMPTS) throw downloadError(error, file);
      const pauseMs = (context.pauseMs ?? PAUSE_MS) * 2 ** (attempt - 1);
      context.onStep(`downloading ${basename(file.url)}: ${error.message}, trying again`);
      await context.clock.sleep(pauseMs, context.signal);
    }
  }
}

/** Resumes where the last attempt stopped. A server without support for ranges sends everything: then it starts over. */
async function fetchRest({ url, part }: FileDownload, context: DownloadContext): Promise<void> {
  const have = await sizeOf(part);
  const answer = await openUrl(url, { ...context, headers: have > 0 ? { range: `bytes=${have}-` } : {} });
  // Nothing is left to send: the checksum decides whether the file is complete or wrong.
  if (answer.status === RANGE_NOT_SATISFIABLE) return;
  const from = answer.status === PARTIAL_CONTENT ? have : 0;
  const total = answer.length === undefined ? undefined : answer.length + from;
  // The body rejects when it ends early.
  await append(part, from, answer.body, reportProgress(basename(url), total, context));
}

const PARTIAL_CONTENT = 206;
const RANGE_NOT_SATISFIABLE = 416;

async function append(
  part: string,
  from: number,
  body: AsyncIterable<Uint8Array>,
  report: (bytes: number) => void,
): Promise<void> {
  let size = from;
  try {
    const target = await open(part, from > 0 ? 'a' : 'w');
    try {
      for await (const piece of body) {
        await target.writeFile(piece);
        report((size += piece.length));
      }
    } finally {
      await target.close();
    }
  } catch (error) {
    const diskError = toDiskError(error, part);
    // Do not keep a partial file on a disk that is full.
    if (diskError !== error) await rm(part, { force: true });
    throw diskError;
  }
}

function reportProgress(
  name: string,
  total: number | undefined,
  { clock, onStep }: DownloadContext,
): (bytes: number) => void {
  let next = 0;
  return (bytes) => {
    const now = clock.monotonicMs();
    if (now < next && bytes !== total) return;
    next = now + PROGRESS_MS;
    const share = total ? ` of ${megabytes(total)} MB (${Math.floor((bytes / total) * 100)} %)` : ' MB';
    onStep(`downloading ${name}: ${megabytes(bytes)}${share}`);
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function downloadError(error: unknown, { url }: FileDownload): unknown {
  if (!(error instanceof HttpFailure)) return error;
  return new OsError('Download', `download failed: ${url}: ${error.message}`, {
    where: url,
    hint: 'check the connection and try again: the partial download is kept',
    cause: error,
  });
}
