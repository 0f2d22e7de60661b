/** Since when the components of a machine fail, and how often they restarted, by our own clock. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import { HOUR_MS } from './condition-clock.ts';
import { ageMsAt, type TimePoint } from './time-point.ts';

export interface ComponentHistory {
  readonly restarts: number;
  /** Restarts of the last hour. */
  readonly restarted: readonly { readonly ms: number; readonly count: number }[];
  /** Since then every restart was observed. */
  readonly completeMs: number;
  /** Undefined: it does not fail. */
  readonly failedMs: number | undefined;
}

export type ComponentHistories = ReadonlyMap<string, ComponentHistory>;

/** `reports` is `Machine.status.components`. */
export function observeComponents(
  before: ComponentHistories | undefined,
  reports: readonly unknown[],
  point: TimePoint,
): ComponentHistories {
  const named = reports.flatMap((report): readonly (readonly [string, unknown])[] => {
    const name = textAt(report, 'name');
    return name === undefined ? [] : [[name, report]];
  });
  return new Map(named.map(([name, report]) => [name, observeComponent(before?.get(name), report, point)]));
}

function observeComponent(
  before: ComponentHistory | undefined,
  report: unknown,
  point: TimePoint,
): ComponentHistory {
  const reported = valueAt(report, 'restarts');
  const restarts = typeof reported === 'number' ? reported : 0;
  const failedMs = isFailing(report) ? failedSince(before, report, point) : undefined;
  if (!before) {
    // When those that it had already took place is not known.
    return { restarts, restarted: [], completeMs: restarts === 0 ? -Infinity : point.ms, failedMs };
  }
  // A count that decreased began again at zero.
  const count = restarts < before.restarts ? restarts : restarts - before.restarts;
  const recent = before.restarted.filter(({ ms }) => ms > point.ms - HOUR_MS);
  const restarted = count > 0 ? [...recent, { ms: point.ms, count }] : recent;
  return { restarts, restarted, completeMs: before.completeMs, failedMs };
}

function isFailing(report: unknown): boolean {
  return textAt(report, 'state') === 'Failed' || valueAt(report, 'ready') === false;
}

function failedSince(before: ComponentHistory | undefined, report: unknown, point: TimePoint): number {
  if (before) return before.failedMs ?? point.ms;
  const isSinceThen = textAt(report, 'state') === 'Failed';
  return point.ms - ((isSinceThen ? ageMsAt(point, textAt(report, 'since')) : 0) ?? 0);
}
