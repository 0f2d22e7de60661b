/** Escapes of one character, inside and outside of brackets: \n, \x{2014}, \012, \. */
import { codeOf } from './char-set.ts';
import type { PatternReader } from './reader.ts';

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

const FORMS: readonly { readonly form: RegExp; readonly base: number }[] = [
  { form: /^(?<digits>0[0-7]{0,2}|[1-7][0-7]{1,2})/, base: 8 },
  { form: /^x(?<digits>[0-9A-Fa-f]{2})/, base: 16 },
  { form: /^x\{(?<digits>[0-9A-Fa-f]+)\}/, base: 16 },
];

/** The character. The reader is at the backslash. */
export function parseEscape(reader: PatternReader): number {
  const start = reader.position;
  reader.skip(1);
  if (reader.isAtEnd()) throw reader.error('trailing backslash at end of expression', start);
  const code = numberedChar(reader) ?? namedChar(reader);
  if (code === undefined || code > 0x10_ff_ff) throw reader.error('invalid escape sequence', start);
  return code;
}

function numberedChar(reader: PatternReader): number | undefined {
  for (const { form, base } of FORMS) {
    const found = reader.match(form);
    if (found) return Number.parseInt(found.groups?.['digits'] ?? '', base);
  }
  return undefined;
}

function namedChar(reader: PatternReader): number | undefined {
  const char = reader.take();
  if (Object.hasOwn(CONTROL, char)) return CONTROL[char];
  // A backslash before a letter or a digit is for meanings that are still to come.
  return codeOf(char) < 0x80 && !/[0-9A-Za-z]/.test(char) ? codeOf(char) : undefined;
}
