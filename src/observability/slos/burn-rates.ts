/**
 * Makes recording rules and alerts of an objective: multi-window, multi-burn-rate, as the SRE workbook of Google describes them in
 * "Alerting on SLOs". A burn rate of 1 spends the error budget in exactly 30 days.
 */

import { runbookUrl } from '../alerts/runbook.ts';
import type { AlertRule, RecordingRule, RuleGroup } from '../prometheus/rule.ts';
import { errorRatio, eventCount, type Slo } from './slo.ts';

/** The ratio of bad things, by objective. The window is in the name, as Prometheus recommends. */
export const SLO_ERRORS = 'kubenode:slo_errors:ratio';
export const SLO_OBJECTIVE = 'kubenode:slo_objective:ratio';

interface BurnRate {
  readonly severity: AlertRule['severity'];
  readonly factor: number;
  readonly long: string;
  /** A twelfth of the long one: the alert ends soon after the cause. */
  readonly short: string;
}

/** The long window spends 2 %, 5 %, 10 % and 10 % of the budget. */
export const BURN_RATES: readonly BurnRate[] = [
  { severity: 'critical', factor: 14.4, long: '1h', short: '5m' },
  { severity: 'critical', factor: 6, long: '6h', short: '30m' },
  { severity: 'warning', factor: 3, long: '1d', short: '2h' },
  { severity: 'warning', factor: 1, long: '3d', short: '6h' },
];

const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];

export function sloGroup(slo: Slo): RuleGroup {
  const { name, objective } = slo;
  const labels = { slo: name };
  const recordings: readonly RecordingRule[] = [
    { record: SLO_OBJECTIVE, expr: `vector(${objective})`, labels },
    ...WINDOWS.map((window) => ({
      record: `${SLO_ERRORS}_rate${window}`,
      expr: errorRatio(slo, window),
      labels,
    })),
  ];
  return {
    name: `kubenode-slo-${name}`,
    recordings,
    alerts: [burnAlert(slo, 'critical'), burnAlert(slo, 'warning')],
  };
}

function burnAlert(slo: Slo, severity: AlertRule['severity']): AlertRule {
  const rates = BURN_RATES.filter((rate) => rate.severity === severity);
  const isFast = severity === 'critical';
  return {
    alert: `${slo.alert}Burns${isFast ? 'Fast' : 'Slowly'}`,
    expr: rates.map((rate) => burnCondition(slo, rate)).join(' or '),
    severity,
    labels: { slo: slo.name },
    summary: `The error budget of ${slo.name} is spent too fast: ${slo.promise}`,
    runbookUrl: runbookUrl(slo.runbook),
  };
}

/** Above 1 no ratio of errors can be: the objectives are high enough for each factor (a test checks that). */
function burnCondition({ name, objective, indicator }: Slo, { factor, long, short }: BurnRate): string {
  const limit = burnLimit(objective, factor);
  const above = (window: string): string => `${SLO_ERRORS}_rate${window}{slo="${name}"} > ${limit}`;
  const events =
    indicator.type === 'Durations'
      ? ` and on () ${eventCount(indicator, long)} >= ${indicator.minEvents}`
      : '';
  return `(${above(long)} and ${above(short)}${events})`;
}

export function burnLimit(objective: number, factor: number): number {
  return Number(((1 - objective) * factor).toFixed(6));
}
