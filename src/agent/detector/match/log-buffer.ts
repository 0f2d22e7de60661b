/** The last lines of a log. A pattern may span as many lines as the buffer has, and matches to their end. */
import type { GoPattern } from '../pattern/pattern.ts';

export interface LogLine {
  readonly time: Date;
  readonly message: string;
}

/** Longer ones are cut: one line must not make each match slow. */
const MAX_LINE = 4096;

export class LogBuffer {
  readonly #size: number;
  #lines: readonly LogLine[] = [];
  #text = '';

  constructor(size: number) {
    this.#size = size;
  }

  push({ time, message }: LogLine): void {
    this.#lines = [...this.#lines, { time, message: message.slice(0, MAX_LINE) }].slice(-this.#size);
    // As in node-problem-detector, lines that did not come yet are empty lines.
    const missing = Array.from({ length: this.#size - this.#lines.length }, () => '');
    this.#text = [...missing, ...this.#lines.map((line) => line.message)].join('\n');
  }

  /** The lines that the match spans, or an empty list. */
  match(pattern: GoPattern): readonly LogLine[] | 'TooLong' {
    const found = pattern.search(this.#text);
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
