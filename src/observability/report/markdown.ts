/** Writes the report as Markdown, for a page of a weekly review. Names are text of their authors: nothing in them is markup. Pure. */
import { markdownText } from '../../kube/objects/printable.ts';
import type { FleetReport, ReportRow, ReportSection } from './report.ts';
import type { ColumnUnit } from './sections.ts';

export function reportMarkdown(report: FleetReport): string {
  const { from, to, missing, sections } = report;
  return [
    `# Fleet report, ${from} to ${to}`,
    ...(missing.length === 0 ? [] : [missingText(missing)]),
    ...sections.map(sectionText),
    '',
  ].join('\n\n');
}

const MAX_MISSING = 20;

function missingText(missing: readonly string[]): string {
  const shown = missing.slice(0, MAX_MISSING).map((each) => `- ${markdownText(each)}`);
  const more = missing.length > MAX_MISSING ? [`- and ${missing.length - MAX_MISSING} more`] : [];
  return ['**This report is not complete.**', '', ...shown, ...more].join('\n');
}

function sectionText({ id, title, keys, columns, rows, leftOut }: ReportSection): string {
  if (rows.length === 0) return `## ${title}\n\nNo data.`;
  const isObjectives = id === 'slos';
  const names = [...keys, ...columns.map(({ name }) => name), ...(isObjectives ? ['met'] : [])];
  const cells = rows.map((row) => [
    ...row.keys.map(markdownText),
    ...row.values.map((value, index) => cellText(value, columns[index]?.unit ?? 'count')),
    ...(isObjectives ? [metText(row)] : []),
  ]);
  const lines = [names, names.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
  const note = leftOut > 0 ? `\n\n${leftOut} more are left out.` : '';
  return `## ${title}\n\n${lines.join('\n')}${note}`;
}

function metText({ values: [good, objective] }: ReportRow): string {
  if (typeof good !== 'number' || typeof objective !== 'number') return 'unknown';
  return good >= objective ? 'yes' : '**no**';
}

function cellText(value: number | null, unit: ColumnUnit): string {
  if (value === null) return '-';
  // Prometheus extrapolates counts to the edges of the period.
  if (unit === 'count') return String(Math.round(value));
  if (unit === 'ratio') return `${Number((value * 100).toFixed(2))} %`;
  return unit === 'perDay' ? String(Number(value.toFixed(1))) : durationText(value);
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toFixed(1))} s`;
  const minutes = seconds / 60;
  if (minutes < 120) return `${Number(minutes.toFixed(1))} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${Number(hours.toFixed(1))} h` : `${Number((hours / 24).toFixed(1))} d`;
}
