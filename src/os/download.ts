/**
 * Downloads one file whose checksum is known beforehand. What has arrived is kept under a name made of that
 * checksum, so a download that was cut off goes on where it stopped, in this process or in the next one.
 */
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from './clock.ts';
import { LocalError } from './errors.ts';
import { sha256OfFile, toDiskError } from './files.ts';
import { HttpFailure, openUrl } from './http.ts';

export interface FileDownload {
  readonly url: string;
  readonly sha256: string;
  /** Gets this name when it is whole and right. */
  readonly to: string;
  /** Where it grows until then. */
  readonly part: string;
}

export interface DownloadContext {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly tell: (step: string) => void;
  /** Without a byte for this long the connection counts as lost. */
  readonly silenceMs?: number;
  /** Before the second try; each further one waits twice as long. */
  readonly pauseMs?: number;
}

const TRIES = 5;
const PAUSE_MS = 1000;
const TELL_MS = 2000;

export async function downloadFile(file: FileDownload, context: DownloadContext): Promise<void> {
  await fetchPart(file, context);
  if ((await sha256OfFile(file.part)) !== file.sha256) {
    // Perhaps a proxy mixed up the pieces: once more, from the first byte on.
    await rm(file.part, { force: true });
    await fetchPart(file, context);
    await refuseWrongSum(file);
  }
  await rename(file.part, file.to);
}

async function refuseWrongSum({ url, sha256, part }: FileDownload): Promise<void> {
  const found = await sha256OfFile(part);
  if (found === sha256) return;
  await rm(part, { force: true });
  throw new LocalError(
    'Checksum',
    `${url} is not what its publisher announced: sha256 ${found}, not ${sha256}`,
    {
      where: url,
      hint: 'do not use it; check the mirror or proxy in between, then repeat the command',
    },
  );
}

/** Until the server has sent all of it. Gives up on an answer that will not change, or after some tries. */
async function fetchPart(file: FileDownload, context: DownloadContext): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      await fetchRest(file, context);
      return;
    } catch (error) {
      context.signal?.throwIfAborted();
      if (!(error instanceof HttpFailure) || !error.retryable || tried === TRIES) throw describe(error, file);
      const pauseMs = (context.pauseMs ?? PAUSE_MS) * 2 ** (tried - 1);
      context.tell(`downloading ${basename(file.url)}: ${error.message}, trying again`);
      await context.clock.sleep(pauseMs, context.signal);
    }
  }
}

/** From where it stopped. A server that knows no ranges sends all of it: then it starts again. */
async function fetchRest({ url, part }: FileDownload, context: DownloadContext): Promise<void> {
  const have = await sizeOf(part);
  const answer = await openUrl(url, { ...context, headers: have > 0 ? { range: `bytes=${have}-` } : {} });
  // Nothing of it is left: the checksum decides whether we have it all, or something else.
  if (answer.status === RANGE_NOT_SATISFIABLE) return;
  const from = answer.status === PARTIAL_CONTENT ? have : 0;
  const total = answer.length === undefined ? undefined : answer.length + from;
  // A body that ends early rejects by itself.
  await append(part, from, answer.body, progressOf(basename(url), total, context));
}

const PARTIAL_CONTENT = 206;
const RANGE_NOT_SATISFIABLE = 416;

async function append(
  part: string,
  from: number,
  body: AsyncIterable<Uint8Array>,
  show: (bytes: number) => void,
): Promise<void> {
  let size = from;
  try {
    const target = await open(part, from > 0 ? 'a' : 'w');
    try {
      for await (const piece of body) {
        await target.writeFile(piece);
        show((size += piece.length));
      }
    } finally {
      await target.close();
    }
  } catch (error) {
    const told = toDiskError(error, part);
    // On a full disk the part is what others need the room for.
    if (told !== error) await rm(part, { force: true });
    throw told;
  }
}

function progressOf(
  name: string,
  total: number | undefined,
  { clock, tell }: DownloadContext,
): (bytes: number) => void {
  let next = 0;
  return (bytes) => {
    const now = clock.monotonicMs();
    if (now < next && bytes !== total) return;
    next = now + TELL_MS;
    const share = total ? ` of ${megabytes(total)} MB (${Math.floor((bytes / total) * 100)} %)` : ' MB';
    tell(`downloading ${name}: ${megabytes(bytes)}${share}`);
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

function describe(error: unknown, { url }: FileDownload): unknown {
  if (!(error instanceof HttpFailure)) return error;
  return new LocalError('Download', `${url} could not be downloaded: ${error.message}`, {
    where: url,
    hint: 'check the connection, or name a mirror (see kubenode local up --help); what arrived is kept',
    cause: error,
  });
}
