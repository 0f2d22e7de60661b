/** Prints hosted clusters: as a table for people, as data for programs. */
import { formatAge } from '../../../../views/text/age.ts';
import type { Table } from '../../../../views/text/table.ts';
import type { Io } from '../../../io.ts';
import { type OutputFormat, printResult } from '../../../output.ts';
import type { PlaneView } from './plane-view.ts';

export function printPlane(io: Io, format: OutputFormat, view: PlaneView): void {
  printResult(io, format, view, () => planeTable([view], io.clock.now()));
}

export function printPlanes(io: Io, format: OutputFormat, views: readonly PlaneView[]): void {
  printResult(io, format, { clusters: views }, () => planeTable(views, io.clock.now()));
}

export function planeTable(views: readonly PlaneView[], now: Date): Table {
  return {
    columns: ['name', 'version', 'state', 'age', 'ends', 'message'],
    rows: views.map(({ name, version, state, createdAt, endsAt = '-', message }) => [
      name,
      version,
      state,
      formatAge(createdAt, now),
      endsAt,
      message || '-',
    ]),
    empty: 'the hub hosts no cluster: create one with kubenode cluster create',
  };
}
