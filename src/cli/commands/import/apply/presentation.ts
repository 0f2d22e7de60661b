/** Formats the progress of an import: a table that is redrawn, or a line for each change. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { formatCount } from '../../../../views/text/counts.ts';
import type { FrameLine, Tone } from '../../../../views/text/frame.ts';
import { fitTable } from '../../../../views/text/wrap.ts';
import type { Presentation } from '../../../live/display.ts';
import type { ImportProgress, MachineProgress } from './progress.ts';

export const IMPORT_PRESENTATION: Presentation<ImportProgress> = {
  label: () => 'import',
  changes: changedLines,
  frame: (progress, _, { columns }) => [
    { text: importSummary(progress) },
    ...sorted(progress).flatMap((each) => machineLines(each, columns)),
  ],
};

const ORDER: readonly MachineProgress['state'][] = ['Failed', 'NotApplied', 'Deleted', 'Importing', 'Ready'];
const TONES: Readonly<Record<MachineProgress['state'], Tone>> = {
  Failed: 'bad',
  NotApplied: 'bad',
  Deleted: 'bad',
  Importing: 'busy',
  Ready: 'good',
};

/** Machines that need a person come first: a terminal may have no room for all. */
function sorted({ machines }: ImportProgress): readonly MachineProgress[] {
  return machines.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
}

function machineLines(progress: MachineProgress, columns: number): readonly FrameLine[] {
  const text = `${progress.machine.padEnd(NAME_WIDTH)}  ${progressText(progress)}`;
  return [{ text: text.slice(0, columns), tone: TONES[progress.state] }];
}

const NAME_WIDTH = 20;

function changedLines(before: ImportProgress | undefined, after: ImportProgress): readonly string[] {
  const known = new Map(before?.machines.map((each) => [each.machine, each]));
  const lines = after.machines
    .filter((each) => !isDeepStrictEqual(known.get(each.machine), each))
    .map((each) => `${each.machine}: ${progressText(each)}`);
  const summary = importSummary(after);
  return before && importSummary(before) === summary ? lines : [...lines, summary];
}

function progressText({ state, step, reason, message }: MachineProgress): string {
  const head = state === 'Importing' ? (step ?? state) : state;
  const why = [reason === head ? undefined : reason, message].filter(Boolean).join(': ');
  return state === 'Ready' || why === '' ? head : `${head}: ${why}`;
}

/** `3 machines: 1 Ready, 2 Importing`. */
export function importSummary({ machines }: ImportProgress): string {
  const parts = ORDER.toReversed().flatMap((state) => {
    const count = machines.filter((each) => each.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  return `${formatCount(machines.length, 'machine')}: ${parts.join(', ')}`;
}

/** The report when the command ends: each host with what to do. */
export function formatProgress(progress: ImportProgress, columns: number): string {
  const rows = sorted(progress).map((each) => [each.machine, each.host, each.state, progressText(each)]);
  return fitTable({ columns: ['machine', 'host', 'state', 'why'], rows }, columns);
}
