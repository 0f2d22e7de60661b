/** Describes entries of the audit record for people, and as JSON for programs. Pure. */
import type { AuditApproval, AuditCommit } from '../../api/audit/lines.ts';
import { optional } from '../../kube/objects/optional.ts';
import { shortCommit } from '../text/age.ts';
import type { Table } from '../text/table.ts';
import type { AuditEntry } from './select.ts';

const COLUMNS = ['time', 'subject', 'act', 'outcome', 'grant', 'commit', 'author', 'because'];

export function auditTable(entries: readonly AuditEntry[], empty: string): Table {
  return { columns: COLUMNS, rows: entries.map(rowOf), empty };
}

function rowOf(entry: AuditEntry): readonly string[] {
  const { line, origin, source } = entry;
  const commit = line.type === 'object' ? line.commit : source?.commit;
  const { subject, act, outcome, grant } = cellsOf(line);
  const author = line.type === 'object' || line.type === 'act' ? authorText(origin) : line.by;
  return [line.at, subject, act, outcome, grant, shortCommit(commit), author, becauseOf(entry)];
}

type Cells = Readonly<Record<'subject' | 'act' | 'outcome' | 'grant', string>>;

function cellsOf(line: AuditEntry['line']): Cells {
  switch (line.type) {
    case 'object':
      return { subject: line.object, act: line.act, outcome: line.outcome, grant: '-' };
    case 'act':
      return {
        subject: `Machine ${line.machine}`,
        act: line.action,
        outcome: line.outcome,
        grant: line.grant,
      };
    case 'answer':
      return { subject: `Machine ${line.machine}`, act: line.action, outcome: line.decision, grant: '-' };
    case 'closure':
      return { subject: `breaker ${line.breaker}`, act: 'Close', outcome: 'Succeeded', grant: '-' };
    default:
      return line satisfies never;
  }
}

/** Anybody can write any author into a commit: only the key that signed it is proven. */
export function authorText(origin: Pick<AuditCommit, 'author' | 'signer'> | undefined): string {
  const { author, signer } = origin ?? {};
  if (signer !== undefined) return `${author ?? 'unknown'} (signed by ${signer})`;
  return author === undefined ? '-' : `${author} (unverified)`;
}

function becauseOf({ line, origin, source }: AuditEntry): string {
  switch (line.type) {
    case 'object':
      return joined([
        line.because,
        componentsText(line.components),
        approvalText(origin),
        rollbackText(origin),
      ]);
    case 'act':
      return joined([
        actFor(line.holder, line.origin),
        componentsText(source?.components),
        approvalText(origin),
      ]);
    case 'answer':
      return joined([`for ${line.holder}`, line.reason]);
    case 'closure':
      return line.reason;
    default:
      return line satisfies never;
  }
}

function actFor(holder: string, origin: string | undefined): string {
  return origin === undefined || origin === holder ? `for ${holder}` : `for ${holder} of ${origin}`;
}

function componentsText(components: readonly string[] | undefined): string | undefined {
  return components?.length ? components.join(', ') : undefined;
}

function approvalText(origin: AuditCommit | undefined): string | undefined {
  const approvals = (origin?.approvals ?? []).map(approvalLine);
  return approvals.length === 0 ? undefined : `approved in git for ${approvals.join(', ')}`;
}

function rollbackText(origin: AuditCommit | undefined): string | undefined {
  const { by, reason } = origin?.rollback ?? {};
  return by === undefined ? undefined : `rolled back by ${by}: ${reason ?? ''}`;
}

/** An approval without a verified signature has no name: `git log` shows who committed it. */
function approvalLine({ stage, reason, planDigest, commit, by }: AuditApproval): string {
  const plan = planDigest === undefined ? [] : [`plan ${planDigest.slice(0, SHORT_DIGEST)}`];
  const who = by === undefined ? [] : [`signed by ${by}`];
  const where = commit === undefined ? [] : [`commit ${shortCommit(commit)}`];
  const details = [...who, ...where, ...plan].join(', ');
  return `${stage}${details === '' ? '' : ` (${details})`}: ${reason}`;
}

/** `sha256:` and twelve digits. */
const SHORT_DIGEST = 19;

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('; ');
}

/** The line as it is recorded, with the facts about its commit. Without a signer nothing proves the author. */
export function auditJson({ line, origin, source }: AuditEntry): Readonly<Record<string, unknown>> {
  const { author, signer, subject, plan, approvals, rollback, pipeline, cluster } = origin ?? {};
  return {
    ...line,
    ...optional('commit', line.type === 'object' ? line.commit : source?.commit),
    ...optional('components', line.type === 'object' ? line.components : source?.components),
    ...optional('cluster', cluster),
    ...optional('pipeline', pipeline),
    ...optional('author', author),
    ...(origin ? { authorVerified: signer !== undefined } : {}),
    ...optional('signer', signer),
    ...optional('subject', subject),
    ...optional('plan', plan),
    ...optional('approvals', approvals),
    ...optional('rollback', rollback),
  };
}

/** Returns the warnings about what the record lacks. */
export function auditWarnings({
  missing,
  unreadable,
}: {
  readonly missing: readonly string[];
  readonly unreadable: number;
}): readonly string[] {
  const first = missing.slice(0, 3).join(', ');
  const gap =
    missing.length === 0
      ? []
      : [
          `${missing.length} parts of the record are missing: ${first}. Somebody deleted them, or restored a backup: look in the audit log of the API server`,
        ];
  const unread = unreadable === 0 ? [] : [`${unreadable} lines cannot be read by this version of kubenode`];
  return [...gap, ...unread];
}
