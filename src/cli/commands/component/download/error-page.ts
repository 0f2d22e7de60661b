/** Decides whether what a server sent is the page of an error or of a proxy, and not the file of a release. Pure. */

export interface ReceivedContent {
  /** The first bytes. */
  readonly head: Uint8Array;
  readonly sizeBytes: number;
  readonly fileName: string;
}

/** So many of the first bytes are enough to tell what the content is. */
export const HEAD_BYTES = 512;

/** An answer of a server to a request that failed is shorter. A program is longer. */
const MAX_PAGE_BYTES = 4096;

const HTML = /^\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html)\b/i;

/** Returns why the content is a page. No release has one, whatever its checksum file states. */
export function pageReason(head: Uint8Array): string | undefined {
  return HTML.test(textOf(head)) ? 'the answer is a web page, not a file' : undefined;
}

/** The first bytes of archives, by how their names end. */
const ARCHIVES: readonly (readonly [ending: RegExp, kind: string, magic: string])[] = [
  [/\.(?:tgz|gz)$/i, 'gzip', '1f8b'],
  [/\.zst$/i, 'zstd', '28b52ffd'],
];

/** Returns why content that no checksum file proves is not what its name states. */
export function contentReason({ head, sizeBytes, fileName }: ReceivedContent): string | undefined {
  const [, kind, magic] = ARCHIVES.find(([ending]) => ending.test(fileName)) ?? [];
  if (magic !== undefined && !Buffer.from(head).toString('hex').startsWith(magic)) {
    return `expected an archive of ${kind}, got ${sizeBytes} bytes that begin with ${quoteHead(head)}`;
  }
  if (sizeBytes >= MAX_PAGE_BYTES || isBinary(head) || textOf(head).startsWith('#!')) return undefined;
  return `expected a program, got a text of ${sizeBytes} bytes that begins with ${quoteHead(head)}`;
}

/** Texts have no control characters but for white space. */
function isBinary(head: Uint8Array): boolean {
  return head.some((byte) => byte === 0x7f || (byte < 0x20 && !WHITE_SPACE.has(byte)));
}

const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d]);

function textOf(head: Uint8Array): string {
  return new TextDecoder().decode(head);
}

function quoteHead(head: Uint8Array): string {
  return JSON.stringify(textOf(head.subarray(0, 40)));
}
