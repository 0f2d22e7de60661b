/** The rules of Prometheus that are generated, before they are text. */

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** Critical calls a person at any time; a warning is looked at in the next working hours. */
  readonly severity: 'critical' | 'warning';
  /** How long the expression must hold. */
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** One sentence, with the labels of the series. */
  readonly summary: string;
  readonly runbookUrl: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly recordings: readonly RecordingRule[];
  readonly alerts: readonly AlertRule[];
}
