/** Prints a result: as a table for people, as JSON or YAML for programs. */
import { Option } from 'commander';
import { printableLine } from '../kube/objects/printable.ts';
import { formatJson } from '../views/text/json.ts';
import { formatTable, type Table } from '../views/text/table.ts';
import { formatYaml } from '../views/text/yaml.ts';
import type { Io } from './io.ts';

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

export function printWarnings(io: Io, warnings: readonly string[]): void {
  for (const warning of warnings) io.err(`warning: ${printableLine(warning)}\n`);
}
