/** Shows the coverage of components to people. Pure. */
import { fitTable, formatHanging } from '../../format/wrap.ts';
import { formatCount } from '../../output.ts';
import type { ComponentCoverage } from './coverage.ts';

export function formatCoverage(coverage: readonly ComponentCoverage[], columns: number): string {
  const rows = coverage.flatMap(({ component, versions }) =>
    versions.map(({ componentRef, desired, current, failed, phase }, index) => [
      index === 0 ? component : '',
      componentRef.slice(component.length + 1),
      ...[desired, current, failed].map(String),
      phase,
    ]),
  );
  const empty = 'no components: no MachineComponent exists, and no machine has one';
  const names = ['component', 'version', 'desired', 'current', 'failed', 'phase'];
  const table = fitTable({ columns: names, rows, empty }, columns);
  const width = Math.max(...coverage.map(({ component }) => component.length));
  const notes = coverage
    .map((each) => formatHanging(`  ${each.component.padEnd(width)}   `, coverageText(each), columns))
    .join('');
  return notes === '' ? table : `${table}\n${notes}`;
}

function coverageText({ machines, total, consistent, differing }: ComponentCoverage): string {
  const covered = `on ${machines} of ${formatCount(total, 'machine')}${share(machines, total)}`;
  const more = machines - consistent - differing.length;
  const names =
    differing.length > 0 ? `; not: ${differing.join(', ')}${more > 0 ? ` and ${more} more` : ''}` : '';
  if (machines === 0) return `${covered}${names}`;
  return `${covered}, ${consistent} at what is desired${share(consistent, machines)}${names}`;
}

function share(part: number, total: number): string {
  return total === 0 ? '' : ` (${Math.floor((100 * part) / total)} %)`;
}
