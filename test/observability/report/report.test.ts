import { describe, expect, it } from 'vitest';
import type { ReportSample } from '../../../src/observability/report/answer.ts';
import {
  type ColumnAnswer,
  composeReport,
  type ReportAnswers,
} from '../../../src/observability/report/report.ts';
import { type ReportSectionPlan, reportSections } from '../../../src/observability/report/sections.ts';

const PLANS = reportSections({ seconds: 604_800, clusterLabel: 'cluster' });

function planOf(id: string): ReportSectionPlan {
  const plan = PLANS.find((each) => each.id === id);
  if (!plan) throw new Error(`no section ${id}`);
  return plan;
}

function answered(id: string, name: string, answer: ColumnAnswer['answer']): ColumnAnswer {
  const column = planOf(id).columns.find((each) => each.name === name || each.labels?.['slo'] === name);
  if (!column) throw new Error(`no column ${name}`);
  return { section: id, column, answer };
}

const found = (...samples: readonly (readonly [labels: ReportSample['labels'], value: number])[]) => ({
  found: samples.map(([labels, value]) => ({ labels, value })),
});

function compose(id: string, columns: readonly ColumnAnswer[], more: Partial<ReportAnswers> = {}) {
  const to = new Date('2030-01-08T00:00:00Z');
  const from = new Date('2030-01-01T00:00:00Z');
  const report = composeReport([planOf(id)], { from, to, columns, missing: [], ...more });
  const [section] = report.sections;
  return { ...report, rows: section?.rows.map(({ keys, values }) => [...keys, ...values]), section };
}

describe('composeReport', () => {
  it('DAT-11 puts the values of one key into one row, sorted by the worst', () => {
    const { rows, isComplete } = compose('rollouts', [
      answered('rollouts', 'started', found([{ component: 'runc' }, 1], [{ component: 'kubelet' }, 4])),
      answered(
        'rollouts',
        'failureRate',
        found([{ component: 'kubelet' }, 0.5], [{ component: 'runc' }, NaN]),
      ),
    ]);
    expect(rows).toEqual([
      ['kubelet', 4, null, null, null, null, 0.5],
      ['runc', 1, null, null, null, null, null],
    ]);
    expect(isComplete).toBe(true);
  });

  it('DAT-11 shows each objective beside what was promised, also without data', () => {
    const { rows } = compose('slos', [answered('slos', 'machines-ready', found([{}, 0.99]))]);
    expect(rows).toHaveLength(6);
    expect(rows).toContainEqual(['machines-ready', 0.99, 0.995]);
    expect(rows).toContainEqual(['drift-corrected', null, 0.95]);
  });

  it('DAT-11 names a metric that Prometheus does not have, once, with the section', () => {
    const { missing, isComplete } = compose('faults', [], { names: new Set(['kubenode_other']) });
    expect(missing).toEqual(['Top faults: Prometheus has no kubenode_remedy_faults_total in this period']);
    expect(isComplete).toBe(false);
  });

  it('DAT-11 names each query that has no answer, or only a part of it', () => {
    const { missing, rows } = compose('rollouts', [
      answered('rollouts', 'started', { problem: 'no answer within 30 s' }),
      answered('rollouts', 'paused', { ...found([{ component: 'runc' }, 2]), partial: 'store b is away' }),
    ]);
    expect(missing).toEqual([
      'rollouts: started: no answer within 30 s',
      'rollouts: paused: only a part of the data: store b is away',
    ]);
    expect(rows).toEqual([['runc', null, null, 2, null, null, null]]);
  });

  it('DAT-11 is bounded, and counts what it leaves out', () => {
    const many = Array.from({ length: 25 }, (_, index) => [{ component: `c${index}` }, index] as const);
    const { section } = compose('rollouts', [answered('rollouts', 'started', found(...many))]);
    expect(section?.rows).toHaveLength(20);
    expect(section?.rows[0]?.keys).toEqual(['c24']);
    expect(section?.leftOut).toBe(5);
  });
});
