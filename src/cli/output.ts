/** Prints a result: as a table for people, as JSON or YAML for programs. */
import { Option } from 'commander';
import { stringify } from 'yaml';
import { printableLine, printableText, printableYaml } from '../kube/objects/printable.ts';
import type { Io } from './io.ts';

export type OutputFormat = 'table' | 'json' | 'yaml';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Printed instead of a table without rows. */
  readonly empty?: string;
}

export function createOutputOption(): Option {
  return new Option('-o, --output <format>', 'output format')
    .choices(['table', 'json', 'yaml'])
    .default('table');
}

/** Programs rely on the data; the table may change from release to release. */
export function printResult(io: Io, format: OutputFormat, data: unknown, table: () => Table): void {
  if (format === 'json') io.out(formatJson(data));
  else if (format === 'yaml') io.out(formatYaml(data));
  else io.out(formatTable(table()));
}

export function formatJson(data: unknown): string {
  return `${printableText(JSON.stringify(data, undefined, 2))}\n`;
}

export function formatYaml(data: unknown): string {
  return printableYaml(stringify(data, { aliasDuplicateObjects: false, lineWidth: 0 }));
}

export function formatTable({ columns, rows, empty }: Table): string {
  if (rows.length === 0 && empty !== undefined) return `${printableLine(empty)}\n`;
  const all = [columns.map((column) => column.toUpperCase()), ...rows.map((row) => row.map(printableLine))];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}

export function printWarnings(io: Io, warnings: readonly string[]): void {
  for (const warning of warnings) io.err(`warning: ${printableLine(warning)}\n`);
}

/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
