/** Aligned columns for people. */
import { printableLine } from '../../kube/objects/printable.ts';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Printed instead of a table without rows. */
  readonly empty?: string;
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
