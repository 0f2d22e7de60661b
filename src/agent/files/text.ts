/** Text of files of the host, without a change of a byte: a mark at the beginning is a part of the content. Pure. */

export type TextEncoding = 'utf8' | 'latin1';

const VALID_UTF8 = new TextDecoder('utf-8', { fatal: true });
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });
const BOM = '\uFEFF';

export function decodeText(content: Uint8Array): string {
  return UTF8.decode(content);
}

/** In another encoding each byte counts as one character, so that what others wrote is written back as it was. */
export function encodingOf(content: Uint8Array): TextEncoding {
  try {
    VALID_UTF8.decode(content);
    return 'utf8';
  } catch {
    return 'latin1';
  }
}

/** The mark that some editors write before the text. */
export function splitMark(text: string): { readonly mark: string; readonly text: string } {
  return text.startsWith(BOM) ? { mark: BOM, text: text.slice(1) } : { mark: '', text };
}
