/** Reports the conditions and Events of monitors as node-problem-detector would. Pure. */
import type { DefaultCondition } from '../config/monitor.ts';
import { goQuote } from './go-quote.ts';

export interface DetectedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** The time since which status and reason are these. */
  readonly since: string;
}

export interface DetectedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The condition whose change the Event reports. */
  readonly condition?: string;
}

/** Holds what a monitor knows of a condition now. */
export interface ConditionFinding {
  readonly status: DetectedCondition['status'];
  readonly reason: string;
  readonly message: string;
  readonly since: Date;
}

export interface Judgement {
  readonly conditions: readonly DetectedCondition[];
  readonly events: readonly DetectedEvent[];
}

/**
 * Turns findings into conditions and Events. A condition keeps its time and message while status and reason stay the same. The first report
 * of all makes no Event.
 */
export function reportConditions(
  before: readonly DetectedCondition[],
  findings: readonly (readonly [type: string, finding: ConditionFinding])[],
  reportsMessages = false,
): Judgement {
  const events: DetectedEvent[] = [];
  const conditions = findings.map(([type, finding]) => {
    const last = before.find((each) => each.type === type);
    if (last && isSameReport(last, finding, reportsMessages)) return last;
    const after = { type, ...finding, since: finding.since.toISOString() };
    if (last || after.status === 'True') events.push(changeEvent(after));
    return after;
  });
  return { conditions, events };
}

function isSameReport(last: DetectedCondition, finding: ConditionFinding, reportsMessages: boolean): boolean {
  if (last.status !== finding.status || last.reason !== finding.reason) return false;
  return !reportsMessages || finding.status !== 'True' || last.message === finding.message;
}

function changeEvent({ type, status, reason, message }: DetectedCondition): DetectedEvent {
  const text = `Node condition ${type} is now: ${status}, reason: ${reason}, message: ${goQuote(message)}`;
  // As node-problem-detector does since its version 0.8.11.
  return { type: status === 'True' ? 'Warning' : 'Normal', reason, message: text, condition: type };
}

/** Returns the condition while nothing is wrong. */
export function quiet({ reason, message }: DefaultCondition, since: Date): ConditionFinding {
  return { status: 'False', reason, message, since };
}
