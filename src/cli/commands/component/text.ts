/** Shows the coverage of components to people. Pure. */

import { clusterColumn, type InCluster } from '../../../views/fleet/cluster-column.ts';
import { formatShare } from '../../../views/text/counts.ts';
import { fitTable, formatHanging } from '../../../views/text/wrap.ts';
import type { ComponentCoverage } from './coverage.ts';

export interface CoverageSize {
  readonly columns: number;
  /** Whether the components are those of several clusters. */
  readonly isFleet?: boolean;
}

export function formatCoverage(
  coverage: readonly (ComponentCoverage & InCluster)[],
  { columns, isFleet = false }: CoverageSize,
): string {
  const cluster = clusterColumn(isFleet);
  const rows = coverage.flatMap(({ component, versions, ...of }) =>
    versions.map(({ componentRef, desired, current, failed, phase }, index) => [
      ...(index === 0 ? cluster.cells(of) : cluster.names.map(() => '')),
      index === 0 ? component : '',
      componentRef.slice(component.length + 1),
      ...[desired, current, failed].map(String),
      phase,
    ]),
  );
  const empty = 'no components: no MachineComponent exists, and no machine has one';
  const names = [...cluster.names, 'component', 'version', 'desired', 'current', 'failed', 'phase'];
  const table = fitTable({ columns: names, rows, empty }, columns);
  const nameOf = (each: ComponentCoverage & InCluster): string =>
    [...cluster.cells(each), each.component].join(' ');
  const width = Math.max(...coverage.map((each) => nameOf(each).length));
  const notes = coverage
    .map((each) => formatHanging(`  ${nameOf(each).padEnd(width)}   `, coverageText(each), columns))
    .join('');
  return notes === '' ? table : `${table}\n${notes}`;
}

function coverageText({ machines, total, consistent, differing }: ComponentCoverage): string {
  const covered = `on ${formatShare(machines, total, 'machine')}${share(machines, total)}`;
  const more = machines - consistent - differing.length;
  const names =
    differing.length > 0 ? `; not: ${differing.join(', ')}${more > 0 ? ` and ${more} more` : ''}` : '';
  if (machines === 0) return `${covered}${names}`;
  return `${covered}, ${consistent} at what is desired${share(consistent, machines)}${names}`;
}

function share(part: number, total: number): string {
  return total === 0 ? '' : ` (${Math.floor((100 * part) / total)} %)`;
}
