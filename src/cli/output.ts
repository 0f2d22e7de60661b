/** Prints a result: as a table for people, as JSON or YAML for programs. */
import { Option } from 'commander';
import { stringify } from 'yaml';
import { printableLine, printableYaml } from '../kube/objects/printable.ts';
import { formatTable, type Table } from '../views/text/table.ts';
import { formatJson } from './format/json.ts';
import type { Io } from './io.ts';

export { formatTable, type Table } from '../views/text/table.ts';
export { formatJson } from './format/json.ts';

export type OutputFormat = 'table' | 'json' | 'yaml';

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

export function formatYaml(data: unknown): string {
  return printableYaml(stringify(data, { aliasDuplicateObjects: false, lineWidth: 0 }));
}

export function printWarnings(io: Io, warnings: readonly string[]): void {
  for (const warning of warnings) io.err(`warning: ${printableLine(warning)}\n`);
}

/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `0 of 1 machines`: a part of a group is counted in the plural, however many are in the group. */
export function formatShare(part: number, total: number, noun: string): string {
  return `${part} of ${total} ${noun}s`;
}
