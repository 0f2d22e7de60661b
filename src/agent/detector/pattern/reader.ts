/** Reads a pattern from left to right, by code points. */
import { codeOf } from './char-set.ts';
import { PatternError } from './tree.ts';

export class PatternReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get position(): number {
    return this.#at;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Returns a character without reading it; empty at the end. */
  peek(ahead = 0): string {
    return this.#text.charAt(this.#at + ahead);
  }

  startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  /** Reads the next character; returns an empty text at the end. */
  take(): string {
    if (this.isAtEnd()) return '';
    const char = String.fromCodePoint(codeOf(this.#text.slice(this.#at)));
    this.#at += char.length;
    return char;
  }

  skip(length: number): void {
    this.#at += length;
  }

  /** Reads the text and tells whether it was there; otherwise nothing is read. */
  accept(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.skip(text.length);
    return true;
  }

  /** Reads what the expression matches here, and returns the match. */
  match(expression: RegExp): RegExpExecArray | undefined {
    const found = expression.exec(this.#text.slice(this.#at));
    if (found?.index !== 0) return undefined;
    this.skip(found[0].length);
    return found;
  }

  /** Reads all up to `end` and `end` itself; returns undefined when it does not come. */
  takeUntil(end: string): string | undefined {
    const index = this.#text.indexOf(end, this.#at);
    if (index < 0) return undefined;
    const part = this.#text.slice(this.#at, index);
    this.#at = index + end.length;
    return part;
  }

  rest(): string {
    const part = this.#text.slice(this.#at);
    this.#at = this.#text.length;
    return part;
  }

  error(problem: string, from: number): PatternError {
    return new PatternError(problem, this.#text.slice(from, Math.max(this.#at, from + 1)));
  }
}
