/** Lays text out for a terminal of a given width. Pure. */
import { printableLine, wrapText } from '../../kube/objects/printable.ts';
import type { Table } from './table.ts';

/** What logs and mails show without wrapping again. */
export const COLUMNS = 80;

const FIELD_WIDTH = 11;
const INDENT = 2;

/** `  waits      Soaking 2m: …`; further lines begin below the text. Nothing for an empty text. */
export function formatField(name: string, text: string, columns = COLUMNS): string {
  if (text === '') return '';
  const head = `${' '.repeat(INDENT)}${name.padEnd(FIELD_WIDTH)}`;
  return formatHanging(head, text, columns);
}

/** The text begins behind the head; further lines begin below the text. */
export function formatHanging(head: string, text: string, columns: number): string {
  const [first = '', ...others] = wrapText(text, Math.max(LEAST, columns - head.length));
  const margin = ' '.repeat(head.length);
  return [`${head}${first}`, ...others.map((line) => `${margin}${line}`)]
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** A longer text in a last column that is narrower than this reads badly: it gets lines of its own. */
const LEAST = 24;
/** A longer name gets a line of its own, so that it does not push the other columns away. */
const LONGEST_NAME = 32;
const GAP = '   ';

/** Aligned columns; the last one is wrapped into the rest of the width. */
export function fitTable({ columns: names, rows, empty }: Table, columns = COLUMNS): string {
  if (rows.length === 0) return empty === undefined ? '' : `${printableLine(empty)}\n`;
  const all = [names.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(printableLine))];
  const widths = names.slice(0, -1).map((_, index) => columnWidth(all, index));
  const left = columns - widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const longest = Math.max(...all.map((row) => row[widths.length]?.length ?? 0));
  const layout = { widths, columns, isBelow: left < Math.min(LEAST, longest) };
  const [head = [], ...body] = all;
  const title = layout.isBelow ? head.slice(0, -1) : head;
  return [title, ...body].map((row) => formatRow(row, layout)).join('');
}

interface TableLayout {
  readonly widths: readonly number[];
  readonly columns: number;
  /** The last column is on lines of its own. */
  readonly isBelow: boolean;
}

function columnWidth(rows: readonly (readonly string[])[], index: number): number {
  const width = Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return index === 0 ? Math.min(width, LONGEST_NAME) : width;
}

function formatRow(row: readonly string[], layout: TableLayout): string {
  const [name = ''] = row;
  const { widths, columns, isBelow } = layout;
  if (name.length > (widths[0] ?? name.length)) return `${name}\n${formatRow(['', ...row.slice(1)], layout)}`;
  const head = widths.map((width, index) => `${(row[index] ?? '').padEnd(width)}${GAP}`).join('');
  const last = row[widths.length] ?? '';
  if (last === '') return `${head.trimEnd()}\n`;
  return isBelow
    ? `${head.trimEnd()}\n${formatHanging('    ', last, columns)}`
    : formatHanging(head, last, columns);
}
