/** Composes the report of the answers of Prometheus: what is known, and what is missing. Pure. */
import { byCode } from '../../kube/objects/digest.ts';
import { SLOS } from '../slos/slos.ts';
import type { Answered, ReportSample } from './answer.ts';
import type { ColumnUnit, ReportColumn, ReportSectionPlan } from './sections.ts';

export interface FleetReport {
  readonly from: string;
  readonly to: string;
  readonly isComplete: boolean;
  /** Names what is not in the report, or only in part, and why. */
  readonly missing: readonly string[];
  readonly sections: readonly ReportSection[];
}

export interface ReportSection {
  readonly id: string;
  readonly title: string;
  readonly keys: readonly string[];
  readonly columns: readonly { readonly name: string; readonly unit: ColumnUnit }[];
  readonly rows: readonly ReportRow[];
  /** How many rows are left out, to keep the report short. */
  readonly leftOut: number;
}

export interface ReportRow {
  readonly keys: readonly string[];
  /** In the order of the columns. Null: nothing was measured, as a duration without an event, or the value is missing. */
  readonly values: readonly (number | null)[];
}

/** One query and its answer. */
export interface ColumnAnswer {
  readonly section: string;
  readonly column: ReportColumn;
  readonly answer: Answered<ReportSample>;
}

export interface ReportAnswers {
  readonly from: Date;
  readonly to: Date;
  /** The names of metrics that have samples in the period. Undefined: unknown. */
  readonly names?: ReadonlySet<string>;
  readonly columns: readonly ColumnAnswer[];
  /** Names what was found to be missing before the queries. */
  readonly missing: readonly string[];
}

const MAX_ROWS = 20;

export function composeReport(plans: readonly ReportSectionPlan[], answers: ReportAnswers): FleetReport {
  const missing = [
    ...answers.missing,
    ...missingMetrics(plans, answers),
    ...answers.columns.flatMap(problemOf),
  ];
  return {
    from: answers.from.toISOString(),
    to: answers.to.toISOString(),
    isComplete: missing.length === 0,
    missing: [...new Set(missing)],
    sections: plans.map((plan) => section(plan, answers.columns)),
  };
}

/** A metric that was renamed, or whose process is not scraped. A metric without events has samples all the same. */
function missingMetrics(plans: readonly ReportSectionPlan[], { names }: ReportAnswers): readonly string[] {
  if (!names) return [];
  const users = new Map<string, Set<string>>();
  for (const { title, columns } of plans) {
    for (const name of columns.flatMap(({ needs }) => needs)) {
      if (names.has(name)) continue;
      users.set(name, (users.get(name) ?? new Set()).add(title));
    }
  }
  return [...users].map(
    ([name, titles]) => `${[...titles].join(', ')}: Prometheus has no ${name} in this period`,
  );
}

function problemOf({ section: id, column, answer }: ColumnAnswer): readonly string[] {
  const name = `${id}: ${Object.values(column.labels ?? { column: column.name }).join(' ')}`;
  if ('problem' in answer) return [`${name}: ${answer.problem}`];
  return answer.partial === undefined ? [] : [`${name}: only a part of the data: ${answer.partial}`];
}

function section(plan: ReportSectionPlan, answers: readonly ColumnAnswer[]): ReportSection {
  const { id, title, keys } = plan;
  const columns = shownColumns(plan);
  const rows = sorted(plan, rowsOf(plan, answers));
  return {
    id,
    title,
    keys,
    columns,
    rows: rows.slice(0, MAX_ROWS),
    leftOut: Math.max(0, rows.length - MAX_ROWS),
  };
}

/** Objectives are one column, each filled by its own query, beside what was promised. */
function shownColumns({ columns }: ReportSectionPlan): ReportSection['columns'] {
  const names = new Map(columns.map(({ name, unit }) => [name, { name, unit }]));
  const isObjectives = columns.some(({ labels }) => labels?.['slo'] !== undefined);
  return [...names.values(), ...(isObjectives ? [{ name: 'objective', unit: 'ratio' } as const] : [])];
}

function rowsOf(plan: ReportSectionPlan, answers: readonly ColumnAnswer[]): readonly ReportRow[] {
  const shown = shownColumns(plan);
  const found = new Map<string, { keys: readonly string[]; values: Map<string, number> }>();
  // An objective without data is in the report, too.
  for (const { labels } of plan.columns) if (labels) rowOf(labels);
  for (const { section: id, column, answer } of answers) {
    if (id !== plan.id || 'problem' in answer) continue;
    for (const { labels, value } of answer.found) {
      const row = rowOf({ ...labels, ...column.labels });
      if (Number.isFinite(value)) row.values.set(column.name, value);
    }
  }
  return [...found.values()].map(({ keys, values }) => ({
    keys,
    values: shown.map(({ name }) => values.get(name) ?? objectiveOf(name, keys) ?? null),
  }));

  function rowOf(labels: Readonly<Record<string, string>>): { values: Map<string, number> } {
    const keys = plan.keys.map((key) => labels[key] ?? '');
    const key = JSON.stringify(keys);
    const row = found.get(key) ?? { keys, values: new Map<string, number>() };
    found.set(key, row);
    return row;
  }
}

function objectiveOf(column: string, [slo]: readonly string[]): number | undefined {
  return column === 'objective' ? SLOS.find(({ name }) => name === slo)?.objective : undefined;
}

function sorted({ worstBy, columns }: ReportSectionPlan, rows: readonly ReportRow[]): readonly ReportRow[] {
  const index = columns.findIndex(({ name }) => name === worstBy);
  const rank = ({ values }: ReportRow): number => (index === -1 ? 0 : (values[index] ?? -1));
  return rows.toSorted((a, b) => rank(b) - rank(a) || byCode(a.keys.join('\n'), b.keys.join('\n')));
}
