/** A table of kubectl without what differs from run to run: the ages in these columns. */

export function aligned(table: string, ages: readonly string[]): string {
  const lines = table.trimEnd().split('\n');
  const starts = [...(lines[0] ?? '').matchAll(/\S+(?: \S+)*/g)].map(({ index }) => index);
  const rows = lines.map((line) =>
    starts.map((start, column) => line.slice(start, starts[column + 1]).trim()),
  );
  const isAge = starts.map((_, column) => ages.includes(rows[0]?.[column] ?? ''));
  const masked = rows.map((row, line) =>
    row.map((cell, column) => (line > 0 && isAge[column] === true && cell !== '' ? '<age>' : cell)),
  );
  const widths = starts.map((_, column) => Math.max(...masked.map((row) => row[column]?.length ?? 0)));
  return masked
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
