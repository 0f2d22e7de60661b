/**
 * Keeps the part of a file that arrived, and the validator with which the rest of the same file is requested, so that a download is resumed in
 * this process or in the next one. Without a strong validator it starts over.
 */
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../os/files.ts';
import { type FetchResponse, HttpFailure } from '../../../os/net/http.ts';

export interface PartialFile {
  readonly bytes: number;
  /** The ETag of the content; undefined when nothing is kept. */
  readonly etag?: string;
}

const NOTHING: PartialFile = { bytes: 0 };
const OK = 200;
const RANGE_NOT_SATISFIABLE = 416;

/** Returns the file with the source of a partial file. */
export function sourceFile(to: string): string {
  return `${to}.source`;
}

/** Returns what is kept of the content at the URL. What came from elsewhere is not continued. */
export async function readPartial(to: string, url: string): Promise<PartialFile> {
  const source = parseSource(await readFileIfExists(sourceFile(to)));
  if (source?.url !== url) return NOTHING;
  const size = (await stat(to).catch(() => undefined))?.size ?? 0;
  return size > 0 ? { bytes: size, etag: source.etag } : NOTHING;
}

export function rangeHeaders({ bytes, etag }: PartialFile): Readonly<Record<string, string>> {
  return etag === undefined ? {} : { range: `bytes=${bytes}-`, 'if-range': etag };
}

/** Opens the file for what the server answers: its rest, or all of it. */
export async function openPartial(
  to: string,
  url: string,
  { partial, response }: { readonly partial: PartialFile; readonly response: FetchResponse },
): Promise<{ readonly file: FileHandle; readonly bytes: number }> {
  if (continues(response, partial)) return { file: await open(to, 'a', PRIVATE_MODE), bytes: partial.bytes };
  const etag = response.headers.get('etag');
  await rm(sourceFile(to), { force: true });
  const file = await open(to, 'w', PRIVATE_MODE);
  if (etag?.startsWith('"')) {
    await writeFileAtomic(sourceFile(to), JSON.stringify({ url, etag }), PRIVATE_MODE);
  }
  return { file, bytes: 0 };
}

export async function removePartial(to: string): Promise<void> {
  await rm(sourceFile(to), { force: true });
  await rm(to, { force: true });
}

/** Only an answer with the same validator, from the right byte, is the rest of the same file. */
function continues({ status, headers }: FetchResponse, { bytes, etag }: PartialFile): boolean {
  if (etag === undefined || status === OK) return false;
  if (status === RANGE_NOT_SATISFIABLE) throw new WrongRest('the server has no more bytes');
  const isRest = headers.get('content-range')?.startsWith(`bytes ${bytes}-`) === true;
  if (isRest && (headers.get('etag') ?? etag) === etag) return true;
  throw new WrongRest('the server continued another file than it began');
}

/** The part that is kept is of no use: the download starts over. */
export class WrongRest extends HttpFailure {
  constructor(message: string) {
    super(message, true);
  }
}

function parseSource(text: string | undefined): { readonly url: string; readonly etag: string } | undefined {
  try {
    const { url, etag } = JSON.parse(text ?? '') as Readonly<Record<string, unknown>>;
    return typeof url === 'string' && typeof etag === 'string' ? { url, etag } : undefined;
  } catch {
    return undefined;
  }
}
