/**
 * Makes texts of servers, people and git safe to print: names, messages, subjects and authors may contain anything, also
 * characters that end a line, control a terminal or reorder what is shown. These are printed as `\n` or `\u001b`. Pure.
 */

/** Control characters, line and paragraph separators, and marks that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the text as one line: a cell of a table, an entry of a list, a field of a sentence. */
export function printableLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, escapeOf);
}

/** Returns the text with its line breaks. The escapes are those of JSON, so JSON stays what it was. */
export function printableText(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => (character === '\n' ? character : escapeOf(character)));
}

/**
 * Matches the sequences that this program itself sends to a terminal: a color, or the start of a line or of some lines that are written
 * again.
 */
// oxlint-disable-next-line no-control-regex -- these are let through, everything else is not
const OWN_SEQUENCE = /\r\u001b\[2K|\r\u001b\[\d{1,3}A\u001b\[J|\u001b\[[\d;]*m/;
const CONTROLS = new RegExp(`${OWN_SEQUENCE.source}|\\p{Cc}`, 'gu');

/** Makes a whole stream printable, behind the printers: leaves line breaks, tabs and our own sequences. */
export function printableStream(text: string): string {
  return text.replaceAll(CONTROLS, (found) =>
    found.length > 1 || found === '\n' || found === '\t' ? found : escapeOf(found),
  );
}

/** Makes YAML printable: YAML quotes a text with control characters, but writes those above ASCII as they are. */
export function printableYaml(yaml: string): string {
  return yaml.replaceAll(/[\u007f-\u009f]/g, escapeOf);
}

/** Returns the text for Markdown: nothing in it is markup, and it stays in its line and in its cell of a table. */
export function markdownText(text: string): string {
  return htmlText(text).replaceAll(/[\\`*_|~]|\](?=[([])/g, String.raw`\$&`);
}

/** Returns the text for HTML, which Markdown may contain. */
export function htmlText(text: string): string {
  const inert = printableLine(text).replaceAll(REFERENCE, `$&${ZERO_WIDTH_SPACE}`);
  return inert.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Matches what GitHub and GitLab turn into mentions, links to issues and merge requests, and links to addresses, wherever it is outside of
 * code. They look at the text after the entities and escapes of Markdown, so only a character in between stops them.
 */
const REFERENCE = /[@#!~%$&^](?=[\p{L}\p{N}_"])|:(?=\/\/)|www(?=\.)|GH(?=-\d)/giu;
const ZERO_WIDTH_SPACE = '\u200b';

/** Returns the text as code within a line of Markdown, outside of tables. */
export function markdownCode(text: string): string {
  const line = printableLine(text);
  if (!line.includes('`')) return `\`${line}\``;
  const fence = '`'.repeat(longestRun(line) + 1);
  return `${fence} ${line} ${fence}`;
}

/** Returns the lines as a block of code in Markdown. A line in it cannot end it. */
export function markdownBlock(lines: readonly string[]): readonly string[] {
  const printable = lines.map(printableLine);
  const fence = '`'.repeat(Math.max(3, longestRun(printable.join('\n')) + 1));
  return [fence, ...printable, fence];
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

function escapeOf(character: string): string {
  if (character === '\n') return String.raw`\n`;
  return String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0');
}

/** Breaks the text between words; a word that is longer than a line is cut. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of cutWords(text, width)) {
    const joined = line === '' ? word : `${line} ${word}`;
    if (joined.length <= width) line = joined;
    else {
      lines.push(line);
      line = word;
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

function cutWords(text: string, width: number): readonly string[] {
  const words = printableLine(text).split(' ').filter(Boolean);
  return words.flatMap((word) => {
    const parts: string[] = [];
    for (let from = 0; from < word.length; from += width) parts.push(word.slice(from, from + width));
    return parts;
  });
}
