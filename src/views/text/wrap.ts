/** Lays text out for a terminal of a given width. Pure. */
import { printableLine, wrapText } from '../../kube/objects/printable.ts';
import type { Table } from './table.ts';

/** The width that logs and mails show without wrapping again. */
export const COLUMNS = 80;

const FIELD_WIDTH = 11;
const INDENT = 2;

/** Formats a field as `  waits      Soaking 2m: …`; further lines begin below the text. Nothing for an empty text. */
export function formatField(name: string, text: string, columns = COLUMNS): string {
  if (text === '') return '';
  const head = `${' '.repeat(INDENT)}${name.padEnd(FIELD_WIDTH)}`;
  return formatHanging(head, text, columns);
}

/** Formats `name   text`, or on a narrower output the text below the name. */
export function formatTitle(name: string, text: string, columns: number): string {
  const line = `${printableLine(name)}${GAP}${printableLine(text)}`;
  if (line.length <= columns) return `${line}\n`;
  return formatHanging('', name, columns) + formatHanging(' '.repeat(INDENT), text, columns);
}

/**
 * Formats a head and a text. The text begins behind the head or, where it has no room there, below it; further lines begin below the text.
 */
export function formatHanging(head: string, text: string, columns: number): string {
  const room = columns - head.length;
  if (room < Math.min(LEAST, text.length) && head.trim() !== '') {
    const indent = head.length - head.trimStart().length + INDENT;
    return `${head.trimEnd()}\n${formatHanging(' '.repeat(indent), text, columns)}`;
  }
  const [first = '', ...others] = wrapText(text, Math.max(LEAST, room));
  const margin = ' '.repeat(head.length);
  return [`${head}${first}`, ...others.map((line) => `${margin}${line}`)]
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** The least width of the last column: in a narrower one, a longer text reads badly and gets lines of its own. */
const LEAST = 24;
/** The longest name in a column. A longer name gets a line of its own, so that it does not push the other columns away. */
const LONGEST_NAME = 32;
const GAP = '   ';
/** The indent before a text that has no room in its row. */
const BELOW = '    ';

/**
 * Formats rows in aligned columns; the last one is wrapped into the rest of the width. Where the others have no room, names get lines of
 * their own.
 */
export function fitTable({ columns: names, rows, empty }: Table, columns = COLUMNS): string {
  if (rows.length === 0) return empty === undefined ? '' : `${printableLine(empty)}\n`;
  const all = [names.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(printableLine))];
  const fitting = names.slice(0, -1).map((_, index) => columnWidth(all, index));
  const widths = widthOf(fitting) > columns ? [FOLDED_NAME, ...fitting.slice(1)] : fitting;
  const left = columns - widthOf(widths);
  const longest = Math.max(...all.map((row) => row[widths.length]?.length ?? 0));
  const layout = { widths, columns, isBelow: left < Math.min(LEAST, longest) };
  const [head = [], ...body] = all;
  const title = layout.isBelow ? head.slice(0, -1) : head;
  return [title, ...body].map((row) => formatRow(row, layout)).join('');
}

/** The width of a name column whose names all have lines of their own: what follows is indented by this and a gap. */
const FOLDED_NAME = 1;

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, 0);
}

interface TableLayout {
  readonly widths: readonly number[];
  readonly columns: number;
  /** Whether the last column is on lines of its own. */
  readonly isBelow: boolean;
}

function columnWidth(rows: readonly (readonly string[])[], index: number): number {
  const width = Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return index === 0 ? Math.min(width, LONGEST_NAME) : width;
}

function formatRow(row: readonly string[], layout: TableLayout): string {
  const [name = ''] = row;
  const { widths, columns, isBelow } = layout;
  if (name.length > (widths[0] ?? name.length)) {
    const text = name.trimStart();
    const indent = ' '.repeat(name.length - text.length);
    return formatHanging(indent, text, columns) + formatRow(['', ...row.slice(1)], layout);
  }
  const head = widths.map((width, index) => `${(row[index] ?? '').padEnd(width)}${GAP}`).join('');
  const last = row[widths.length] ?? '';
  if (last !== '' && !isBelow) return formatHanging(head, last, columns);
  return `${fitHead(head.trimEnd(), columns)}${last === '' ? '' : formatHanging(BELOW, last, columns)}`;
}

function fitHead(head: string, columns: number): string {
  return head.length > columns ? formatHanging(BELOW, head, columns) : `${head}\n`;
}
