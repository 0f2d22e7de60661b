/** Computes size and sha256 of a published file while it arrives. Nothing of it is kept. */
import { createHash, type Hash } from 'node:crypto';
import { type FetchResponse, HttpFailure, openUrl } from '../../../../os/net/http.ts';
import { contentReason, HEAD_BYTES, pageReason } from './error-page.ts';
import { type FetchSettings, fileNameOf, withinTime } from './http.ts';
import { mirroredUrl } from './sites.ts';

export interface FileDigest {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface DigestSettings extends FetchSettings {
  readonly onBytes: (bytes: number) => void;
  readonly maxBytes?: number;
  /** Whether the digest is compared with a checksum file. Without one, content that looks like the answer to a failed request is refused. */
  readonly isCompared?: boolean;
}

/** Ten times the largest file of the catalog. */
const MAX_BYTES = 1024 ** 3;
const ATTEMPTS = 2;
const [OK, PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE] = [200, 206, 416];

/** The part of a file that arrived, and the validator with which the rest of the same file is requested. */
interface Received {
  hash: Hash;
  sizeBytes: number;
  head: Buffer;
  /** Undefined: the server sent no strong validator, so that the file is requested from its first byte. */
  etag: string | undefined;
}

/** Resumes once after an interruption. */
export async function digestOfUrl(url: string, settings: DigestSettings): Promise<FileDigest> {
  const received: Received = { ...nothing(), etag: undefined };
  return await withinTime(settings, async (limited) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await receive(url, received, { ...settings, ...limited });
        requireFile(url, received, settings.isCompared === true);
        return { sizeBytes: received.sizeBytes, sha256: received.hash.digest('hex') };
      } catch (error) {
        const isFinal = !(error instanceof HttpFailure && error.retryable) || attempt === ATTEMPTS;
        if (isFinal || limited.signal.aborted) throw error;
      }
    }
  });
}

async function receive(url: string, received: Received, settings: DigestSettings): Promise<void> {
  const { maxBytes = MAX_BYTES, onBytes, env, ...options } = settings;
  const response = await openUrl(mirroredUrl(url, env), { ...options, headers: rangeOf(received) });
  if (!continues(response, received)) Object.assign(received, nothing());
  received.etag = strongEtag(response.headers);
  refusePage(response);
  for await (const piece of response.body) {
    received.hash.update(piece);
    received.sizeBytes += piece.length;
    const missing = HEAD_BYTES - received.head.length;
    if (missing > 0) received.head = Buffer.concat([received.head, piece.subarray(0, missing)]);
    if (received.sizeBytes > maxBytes) throw new HttpFailure(`larger than ${maxBytes} bytes`, false);
    onBytes(received.sizeBytes);
  }
}

function nothing(): Pick<Received, 'hash' | 'sizeBytes' | 'head'> {
  return { hash: createHash('sha256'), sizeBytes: 0, head: Buffer.alloc(0) };
}

function rangeOf({ sizeBytes, etag }: Received): Readonly<Record<string, string>> {
  return sizeBytes > 0 && etag !== undefined ? { range: `bytes=${sizeBytes}-`, 'if-range': etag } : {};
}

/** Only an answer with the same validator, from the right byte to the last one, is the rest of the same file. */
function continues({ status, headers }: FetchResponse, { sizeBytes, etag }: Received): boolean {
  if (status === OK) return false;
  requirePart(status);
  const isSame = (strongEtag(headers) ?? etag) === etag;
  if (isSame && isRest(headers.get('content-range') ?? '', sizeBytes)) return true;
  throw new HttpFailure('the server continued another file than it began', true);
}

function requirePart(status: number): void {
  if (status === RANGE_NOT_SATISFIABLE) {
    throw new HttpFailure('the file of the server ends before what arrived', true);
  }
  if (status !== PARTIAL_CONTENT) throw new HttpFailure(`expected status 200, got ${status}`, false);
}

function isRest(range: string, from: number): boolean {
  const { first, last, total } =
    /^bytes (?<first>\d+)-(?<last>\d+)\/(?<total>\d+|\*)$/.exec(range)?.groups ?? {};
  return Number(first) === from && (total === '*' || Number(total) === Number(last) + 1);
}

function strongEtag(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return etag?.startsWith('"') ? etag : undefined;
}

/** A login page of a proxy is not a release, whatever its status. */
function refusePage({ headers }: FetchResponse): void {
  if (!/^(?:text\/html|application\/xhtml)/i.test(headers.get('content-type') ?? '')) return;
  throw new HttpFailure('the answer is a web page, not a file', false);
}

/** A page may come with the type of a file, too. */
function requireFile(url: string, { head, sizeBytes }: Received, isCompared: boolean): void {
  if (sizeBytes === 0) throw new HttpFailure('the answer is empty', false);
  const unproven = isCompared ? undefined : contentReason({ head, sizeBytes, fileName: fileNameOf(url) });
  const reason = pageReason(head) ?? unproven;
  if (reason !== undefined) throw new HttpFailure(reason, false);
}
