/** Keeps what the lines of a log have raised, and until when it holds. Pure. */
import type { DefaultCondition, LogMonitorConfig, LogRule } from '../config/monitor.ts';
import {
  type ConditionFinding,
  type DetectedCondition,
  type DetectedEvent,
  type Judgement,
  quiet,
  reportConditions,
} from './condition.ts';
import type { LogLine } from './log-buffer.ts';

/** Holds the evidence for one condition and reason. */
export interface Evidence {
  readonly condition: string;
  readonly reason: string;
  readonly atMs: number;
  readonly message: string;
  /** The times of the newest lines of a rule with a window, as many as it counts. */
  readonly timesMs: readonly number[];
}

export interface RuleMatch {
  readonly rule: LogRule;
  readonly lines: readonly [LogLine, ...LogLine[]];
}

/** Returns the Event of a temporary rule, which only reports. */
export function temporaryEvent({ rule, lines }: RuleMatch): DetectedEvent | undefined {
  if (rule.condition !== undefined) return undefined;
  return { type: 'Warning', reason: rule.reason, message: messageOf(rule, lines) };
}

export function addEvidence(all: readonly Evidence[], { rule, lines }: RuleMatch): readonly Evidence[] {
  const { condition, reason, window } = rule;
  if (condition === undefined) return all;
  const isSame = (each: Evidence): boolean => each.condition === condition && each.reason === reason;
  const atMs = lines[0].time.getTime();
  const times = [...(all.find(isSame)?.timesMs ?? []), atMs].toSorted((a, b) => a - b);
  const timesMs = window ? times.slice(-window.count) : [];
  return [
    ...all.filter((each) => !isSame(each)),
    { condition, reason, atMs, message: messageOf(rule, lines), timesMs },
  ];
}

/** Moves all times after the wall clock was set: what came a minute ago came a minute ago by the new time, too. */
export function movedBy(all: readonly Evidence[], jumpMs: number): readonly Evidence[] {
  return all.map((each) => withTimes(each, (timeMs) => timeMs + jumpMs));
}

/** Limits all times to now. Lines have the time at which they were written: before the clock was set back, that was later than now. */
export function noLaterThan(all: readonly Evidence[], now: Date): readonly Evidence[] {
  return all.map((each) => withTimes(each, (timeMs) => Math.min(timeMs, now.getTime())));
}

function withTimes(evidence: Evidence, change: (timeMs: number) => number): Evidence {
  return { ...evidence, atMs: change(evidence.atMs), timesMs: evidence.timesMs.map(change) };
}

export interface LogJudgementInput {
  readonly monitor: LogMonitorConfig;
  readonly evidence: readonly Evidence[];
  readonly before: readonly DetectedCondition[];
  /** The reason why the log cannot be read: what was not raised is unknown then. */
  readonly unreadable?: string;
  readonly now: Date;
}

/** The reason of a condition whose log cannot be read. */
export const LOG_UNREADABLE = 'LogUnreadable';

export function judgeLog({ monitor, evidence, before, unreadable, now }: LogJudgementInput): Judgement {
  const findings = monitor.conditions.map((condition) => {
    const raised = evidence
      .filter((each) => each.condition === condition.type && holds(each, { monitor, condition, now }))
      .toSorted((a, b) => a.atMs - b.atMs)
      .at(-1);
    return [condition.type, raised ? raisedBy(raised) : notRaised(condition, unreadable, now)] as const;
  });
  return reportConditions(before, findings);
}

function raisedBy({ reason, message, atMs }: Evidence): ConditionFinding {
  return { status: 'True', reason, message, since: new Date(atMs) };
}

function notRaised(condition: DefaultCondition, unreadable: string | undefined, now: Date): ConditionFinding {
  if (unreadable === undefined) return quiet(condition, now);
  return { status: 'Unknown', reason: LOG_UNREADABLE, message: unreadable, since: now };
}

interface HoldInput {
  readonly monitor: LogMonitorConfig;
  readonly condition: DefaultCondition;
  readonly now: Date;
}

function holds({ atMs, reason, timesMs }: Evidence, { monitor, condition, now }: HoldInput): boolean {
  const ageMs = now.getTime() - atMs;
  if (condition.clearAfterMs !== undefined && ageMs >= condition.clearAfterMs) return false;
  const rules = monitor.rules.filter((rule) => rule.condition === condition.type && rule.reason === reason);
  const window = rules.find((rule) => rule.window)?.window;
  // No rules: the rule was removed from the file.
  if (!window) return rules.length > 0;
  return timesMs.filter((time) => now.getTime() - time < window.windowMs).length >= window.count;
}

/** The maximum length of the note of an Event, as the API server limits it. */
const MAX_MESSAGE = 1024;

/** Returns the message of a rule. The advice of the rule stays when the lines are too long. */
function messageOf({ suffix }: LogRule, lines: readonly LogLine[]): string {
  const advice = suffix === undefined ? '' : `; ${suffix}`;
  const text = lines.map(({ message }) => message).join('\n');
  return text.slice(0, Math.max(0, MAX_MESSAGE - advice.length)) + advice;
}
