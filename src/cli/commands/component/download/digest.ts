/** Computes size and sha256 of a published file while it arrives. Nothing of it is kept. */
import { createHash, type Hash } from 'node:crypto';
import { type FetchResponse, HttpFailure, openUrl } from '../../../../os/net/http.ts';
import { type FetchSettings, withinTime } from './http.ts';
import { mirroredUrl } from './sites.ts';

export interface FileDigest {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface DigestSettings extends FetchSettings {
  readonly onBytes: (bytes: number) => void;
  readonly maxBytes?: number;
}

/** Ten times the largest file of the catalog. */
const MAX_BYTES = 1024 ** 3;
const ATTEMPTS = 2;
const PARTIAL_CONTENT = 206;

/** The part of a file that arrived, and the validator with which the rest of the same file is requested. */
interface Received {
  hash: Hash;
  sizeBytes: number;
  /** Undefined: the server sent no strong validator, so that the file is requested from its first byte. */
  etag: string | undefined;
}

/** Resumes once after an interruption. */
export async function digestOfUrl(url: string, settings: DigestSettings): Promise<FileDigest> {
  const received: Received = { hash: createHash('sha256'), sizeBytes: 0, etag: undefined };
  return await withinTime(settings, async (limited) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await receive(url, received, { ...settings, ...limited });
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
  if (!continues(response, received)) {
    received.hash = createHash('sha256');
    received.sizeBytes = 0;
  }
  received.etag = strongEtag(response.headers);
  refusePage(response);
  for await (const piece of response.body) {
    received.hash.update(piece);
    received.sizeBytes += piece.length;
    if (received.sizeBytes > maxBytes) throw new HttpFailure(`larger than ${maxBytes} bytes`, false);
    onBytes(received.sizeBytes);
  }
}

function rangeOf({ sizeBytes, etag }: Received): Readonly<Record<string, string>> {
  return sizeBytes > 0 && etag !== undefined ? { range: `bytes=${sizeBytes}-`, 'if-range': etag } : {};
}

/** Only an answer with the same validator, from the right byte, is the rest of the same file. */
function continues({ status, headers }: FetchResponse, { sizeBytes, etag }: Received): boolean {
  if (status !== PARTIAL_CONTENT) return false;
  const from = headers.get('content-range')?.startsWith(`bytes ${sizeBytes}-`) === true;
  if (from && (strongEtag(headers) ?? etag) === etag) return true;
  throw new HttpFailure('the server continued another file than it began', true);
}

function strongEtag(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return etag?.startsWith('"') ? etag : undefined;
}

/** A login page of a proxy is not a release, whatever its status. */
function refusePage({ headers }: FetchResponse): void {
  if (!headers.get('content-type')?.startsWith('text/html')) return;
  throw new HttpFailure('the answer is a web page, not a file', false);
}
