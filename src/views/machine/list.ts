/** Formats one line for each machine, and counts the machines by state. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { clusterColumn, type InCluster } from '../fleet/cluster-column.ts';
import { formatAge } from '../text/age.ts';
import { formatCount } from '../text/counts.ts';
import { fitTable } from '../text/wrap.ts';
import { machineTrouble } from './trouble.ts';

export interface MachineRow {
  readonly name: string;
  readonly phase: string;
  /** The time when it became Ready, or when its trouble began. */
  readonly since?: string;
  readonly zone?: string;
  /** The component sets that assigned something to the machine. */
  readonly sets: readonly string[];
  /** The versions that its agent reports as installed. */
  readonly runs: readonly string[];
  readonly reason?: string;
  readonly because: string;
}

const NO_STATUS: NonNullable<Machine['status']> = { conditions: [] };

export function machineRow(machine: Machine): MachineRow {
  const { metadata, spec, status = NO_STATUS } = machine;
  const { phase = 'Pending', components = [] } = status;
  const trouble = machineTrouble(machine);
  return {
    name: metadata.name,
    phase,
    ...optional('since', trouble ? trouble.since : readySince(status)),
    ...optional('zone', spec.zone),
    sets: setsOf(spec),
    runs: components.flatMap(({ currentRef }) => currentRef ?? []),
    ...optional('reason', trouble?.reason),
    because: trouble?.message ?? '',
  };
}

function readySince({ conditions }: NonNullable<Machine['status']>): string | undefined {
  return conditionOf(conditions, 'Ready')?.lastTransitionTime;
}

function setsOf({ components }: Machine['spec']): readonly string[] {
  return [...new Set(components.flatMap(({ assignment }) => assignment?.set ?? []))];
}

/** The order of the phases: machines that need a person come first. */
const ORDER: readonly string[] = [
  'Stalled',
  'Unreachable',
  'NotReady',
  'Pending',
  'Creating',
  'Importing',
  'Joining',
  'Deleting',
  'Updating',
  'Held',
  'Ready',
];

export function sortRows<T extends MachineRow & InCluster>(rows: readonly T[]): readonly T[] {
  return rows.toSorted(
    (a, b) =>
      ORDER.indexOf(a.phase) - ORDER.indexOf(b.phase) ||
      byCode(a.cluster ?? '', b.cluster ?? '') ||
      byCode(a.name, b.name),
  );
}

export interface ListSize {
  readonly limit: number;
  readonly columns?: number;
  /** Whether the machines are those of several clusters. */
  readonly isFleet?: boolean;
}

export function formatMachines(
  rows: readonly (MachineRow & InCluster)[],
  now: Date,
  { limit, columns, isFleet = false }: ListSize,
): string {
  const cluster = clusterColumn(isFleet);
  const sorted = sortRows(rows);
  const shown = sorted.slice(0, limit);
  const table = fitTable(
    {
      columns: [...cluster.names, 'machine', 'phase', 'since', 'zone', 'runs', 'why'],
      rows: shown.map((row) => [
        ...cluster.cells(row),
        row.name,
        row.phase,
        formatAge(row.since, now),
        row.zone ?? '-',
        runsCell(row.runs),
        row.reason === undefined ? '' : [row.reason, row.because].filter(Boolean).join(': '),
      ]),
      empty: 'no machines',
    },
    columns,
  );
  const more = rows.length - shown.length;
  const hidden =
    more > 0 ? `and ${more} more: --limit ${rows.length} lists all, --phase and --selector choose\n` : '';
  return rows.length === 0 ? table : `${summary(rows)}\n\n${table}${hidden}`;
}

function summary(rows: readonly MachineRow[]): string {
  const counts = Map.groupBy(rows, ({ phase }) => phase);
  const phases = [...counts.keys()].toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const parts = phases.map((phase) => `${counts.get(phase)?.length} ${phase}`);
  return `${formatCount(rows.length, 'machine')}: ${parts.join(', ')}`;
}

/** Returns the version of the kubelet if the machine has one, because people ask for it first. */
function runsCell(runs: readonly string[]): string {
  const first = runs.find((ref) => ref.startsWith('kubelet-')) ?? runs[0];
  if (first === undefined) return '-';
  return runs.length > 1 ? `${first} +${runs.length - 1}` : first;
}
