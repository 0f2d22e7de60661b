/** Formats the reports of an import for people. Pure. */
import { formatHostKey } from '../../../../providers/ssh/host-keys.ts';
import type { CheckResult } from '../../../../providers/ssh/preflight/evaluate.ts';
import { formatCount } from '../../../../views/text/counts.ts';
import { fitTable, formatField, formatTitle } from '../../../../views/text/wrap.ts';
import type { HostReport } from './report.ts';

export interface ReportLayout {
  readonly columns: number;
  /** Whether checks that passed are listed, too. */
  readonly isFull: boolean;
}

export function formatReports(reports: readonly HostReport[], layout: ReportLayout): string {
  const parts = reports.map((report) => formatReport(report, layout));
  return [...parts, formatSummary(reports)].join('\n');
}

function formatReport(report: HostReport, { columns, isFull }: ReportLayout): string {
  const { host, name, state, error, checks, hostKeys, hostKeysPinned } = report;
  const title = formatTitle(host, [state, name ?? ''].join('   ').trim(), columns);
  if (error) {
    return (
      title + formatField('error', error.message, columns) + formatField('hint', error.hint ?? '', columns)
    );
  }
  const keys = hostKeys.map((key) => formatField('host key', formatHostKey(key), columns)).join('');
  const trust = hostKeysPinned
    ? 'pinned, and the host has it'
    : 'compare them with those of the host before you pin them (on its console: ssh-keygen -lf FILE for each /etc/ssh/ssh_host_*_key.pub)';
  const listed = isFull ? checks : checks.filter((check) => check.state !== 'Pass');
  return title + keys + formatField('trust', trust, columns) + formatChecks(report, listed, columns);
}

function formatChecks(
  { checks, skippedChecks }: HostReport,
  listed: readonly CheckResult[],
  columns: number,
): string {
  const passed = checks.filter(({ state }) => state === 'Pass').length;
  const skipped = skippedChecks.length > 0 ? `; skipped: ${skippedChecks.join(', ')}` : '';
  const count = `${passed} of ${formatCount(checks.length, 'check')} passed${skipped}`;
  const rows = listed.map(({ check, state, found, hint }) => [
    check,
    state,
    hint === undefined ? found : `${found}. To do: ${hint}`,
  ]);
  const table =
    rows.length > 0 ? `\n${fitTable({ columns: ['check', 'state', 'found'], rows }, columns)}` : '';
  return `${formatField('checks', count, columns)}${table}`;
}

/** `4 hosts: 2 pass, 1 warns, 1 fails`. */
export function formatSummary(reports: readonly HostReport[]): string {
  const count = (state: HostReport['state']): number =>
    reports.filter((report) => report.state === state).length;
  const parts = [
    `${count('Pass')} passed`,
    `${count('Warn')} with warnings`,
    `${count('Fail')} failed`,
    `${count('Error')} could not be checked`,
  ].filter((part) => !part.startsWith('0 '));
  return `${formatCount(reports.length, 'host')}: ${parts.join(', ')}\n`;
}
