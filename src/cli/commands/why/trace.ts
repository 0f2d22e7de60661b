/** Prints the steps of a trace: what `kubenode why` shows is what is exported. Pure. */
import type { Trace, TraceStep } from '../../../observability/trace/trace.ts';
import { formatAge } from '../../../views/text/age.ts';
import { fitTable, formatField } from '../../../views/text/wrap.ts';

export function formatTrace({ traceId, root }: Trace, now: Date, columns: number): string {
  const table = { columns: ['step', 'at', 'took', 'state', 'because'], rows: rowsOf(root, now, '') };
  return `${fitTable(table, columns)}\n${formatField('trace', traceId, columns)}`;
}

function rowsOf(step: TraceStep, now: Date, indent: string): readonly (readonly string[])[] {
  const { name, subject, startedAt, endedAt, steps = [] } = step;
  const isBegun = startedAt !== undefined;
  const took = isBegun ? formatAge(startedAt, endedAt === undefined ? now : new Date(endedAt)) : '-';
  const row = [
    `${indent}${[name, subject].filter(Boolean).join(' ')}`,
    startedAt ?? '-',
    took,
    step.state ?? (isBegun ? '' : 'not reached'),
    becauseOf(step),
  ];
  return [row, ...steps.flatMap((each) => rowsOf(each, now, `${indent}  `))];
}

function becauseOf({ reason, because }: TraceStep): string {
  return [reason, because].filter(Boolean).join(': ');
}
