/** The last lines of a log. A pattern may span as many lines as the buffer has, and matches to their end. */
import type { GoPattern } from '../pattern/pattern.ts';

export interface LogLine {
  readonly time: Date;
  readonly message: string;
}

/**
 * Longer ones are cut: one line must not make each match slow. No line of the kernel (8 KiB) or of the journal (48 KiB, its
 * LineMax) is as long.
 */
const MAX_LINE = 64 * 1024;
/** All buffered lines together have at most so many characters: older lines become empty. */
const MAX_TEXT = 16 * MAX_LINE;

export class LogBuffer {
  readonly #size: number;
  #lines: readonly LogLine[] = [];
  #text = '';

  constructor(size: number) {
    this.#size = size;
  }

  push({ time, message }: LogLine): void {
    const lines = [...this.#lines, { time, message: message.slice(0, MAX_LINE) }].slice(-this.#size);
    this.#lines = withoutOldest(lines, MAX_TEXT);
    // As in node-problem-detector, lines that did not come yet are empty lines.
    const missing = Array.from({ length: this.#size - this.#lines.length }, () => '');
    this.#text = [...missing, ...this.#lines.map((line) => line.message)].join('\n');
  }

  /** The lines that the match spans, or an empty list. */
  match(pattern: GoPattern): readonly LogLine[] | 'TooLong' {
    const found = pattern.search(this.#text, startOfLastLines(this.#text, pattern.maxNewlines + 1));
    if (typeof found === 'string') return found === 'TooLong' ? found : [];
    const [start = 0] = found;
    let length = 0;
    const index = this.#lines.findLastIndex(({ message }) => {
      length += message.length + 1;
      return length >= this.#text.length - start;
    });
    return this.#lines.slice(Math.max(0, index));
  }
}

function withoutOldest(lines: readonly LogLine[], maxText: number): readonly LogLine[] {
  let left = maxText - lines.reduce((sum, { message }) => sum + message.length, 0);
  if (left >= 0) return lines;
  return lines.map((line) => {
    if (left >= 0) return line;
    left += line.message.length;
    return { ...line, message: '' };
  });
}

/** A match to the end of the text that contains fewer line breaks cannot begin earlier. */
function startOfLastLines(text: string, count: number): number {
  let start = text.length;
  for (let line = 0; line < count; line += 1) {
    if (start === 0) return 0;
    start = text.lastIndexOf('\n', start - 1);
    if (start === -1) return 0;
  }
  return start + 1;
}
