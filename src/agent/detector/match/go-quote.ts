/** Quotes a text as %q of Go does, so that messages equal those of node-problem-detector. Pure. */

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Control characters, separators but the space, and what has no character: Go does not print these. */
const NOT_PRINTED = /["\\\p{C}\p{Z}]/gu;

export function goQuote(text: string): string {
  return `"${text.replaceAll(NOT_PRINTED, (char) => (char === ' ' ? char : escaped(char)))}"`;
}

function escaped(char: string): string {
  const known = ESCAPES[char];
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${digits.padStart(2, '0')}`;
  return code > 0xff_ff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
