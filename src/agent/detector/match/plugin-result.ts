/** Derives conditions from the results of custom plug-ins. Pure. */
import type { DefaultCondition, PluginMonitorConfig, PluginRule } from '../config/monitor.ts';
import {
  type ConditionFinding,
  type DetectedCondition,
  type DetectedEvent,
  type Judgement,
  quiet,
  reportConditions,
} from './condition.ts';
import { goQuote } from './go-quote.ts';

export interface PluginResult {
  readonly status: 'Ok' | 'Problem' | 'Unknown';
  readonly message: string;
}

export interface PluginRun {
  /** The exit code; undefined when a signal ended the plug-in. */
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly output: string;
}

/** Returns the result of a run. Exit code 0 is good, 1 a problem. Everything else, and no answer in time, is unknown. */
export function pluginResult(
  { exitCode, timedOut, output }: PluginRun,
  { path }: Pick<PluginRule, 'path'>,
  maxLength: number,
): PluginResult {
  const text = output.trim();
  const message = timedOut
    ? `Timeout when running plugin ${goQuote(path)}: state - ${stateText(exitCode)}. output - ${goQuote(text)}`
    : text;
  return { status: timedOut ? 'Unknown' : statusOf(exitCode), message: cutBytes(message, maxLength) };
}

/** Returns how a process ended, as Go describes it: at its time limit it is killed, unless it ended just before. */
function stateText(exitCode: number | undefined): string {
  return exitCode === undefined ? 'signal: killed' : `exit status ${exitCode}`;
}

function statusOf(exitCode: number | undefined): PluginResult['status'] {
  if (exitCode === 0) return 'Ok';
  return exitCode === 1 ? 'Problem' : 'Unknown';
}

/** Cuts a text to a length in bytes. A character is not cut in two. */
function cutBytes(text: string, maxLength: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, maxLength), { stream: true });
}

/** Returns the Event of a temporary rule, which only reports, each time that its plug-in does not answer with 0. */
export function pluginEvent(rule: PluginRule, { status, message }: PluginResult): DetectedEvent | undefined {
  if (rule.condition !== undefined || status === 'Ok') return undefined;
  return { type: 'Warning', reason: rule.reason, message };
}

export interface PluginJudgementInput {
  readonly monitor: PluginMonitorConfig;
  /** The last result of each rule that has one. */
  readonly results: ReadonlyMap<PluginRule, PluginResult>;
  readonly before: readonly DetectedCondition[];
  readonly now: Date;
}

export function judgePlugins(input: PluginJudgementInput): Judgement {
  const { monitor, results, now } = input;
  const isSkipped = monitor.skipsInitialStatus && results.size === 0 && input.before.length === 0;
  if (isSkipped) return { conditions: [], events: [] };
  // As in node-problem-detector, the status that was not reported is that of before the first result, of all conditions.
  const isFirst = monitor.skipsInitialStatus && input.before.length === 0;
  const before = isFirst ? initialConditions(monitor, now) : input.before;
  const findings = monitor.conditions.map((condition) => {
    const finding = findingOf(condition, { ...input, before });
    return [condition.type, finding] as const;
  });
  return reportConditions(before, findings, monitor.reportsMessageChanges);
}

/**
 * Returns the finding of a condition. A problem of one rule counts more than the others of its condition, and an unknown one more than a
 * good one.
 */
function findingOf(
  condition: DefaultCondition,
  { monitor, results, before, now }: PluginJudgementInput,
): ConditionFinding {
  const rules = monitor.rules.filter((rule) => rule.condition === condition.type);
  const known = rules.flatMap((rule) => {
    const result = results.get(rule);
    return result ? [{ rule, result }] : [];
  });
  const problem = known.find(({ result }) => result.status === 'Problem');
  if (problem) return raised(problem.rule, problem.result, now);
  if (known.length < rules.length) return withoutAllResults(condition, before, now);
  const normal = quiet(condition, now);
  const unknown = known.find(({ result }) => result.status === 'Unknown');
  return unknown ? { ...normal, status: 'Unknown', message: unknown.result.message } : normal;
}

/** Returns the finding until each rule has a result again: after a restart the last report holds until then. */
function withoutAllResults(
  condition: DefaultCondition,
  before: readonly DetectedCondition[],
  now: Date,
): ConditionFinding {
  const last = before.find(({ type }) => type === condition.type);
  return last ? kept(last) : quiet(condition, now);
}

function initialConditions({ conditions }: PluginMonitorConfig, now: Date): readonly DetectedCondition[] {
  const findings = conditions.map((condition) => [condition.type, quiet(condition, now)] as const);
  return reportConditions([], findings).conditions;
}

function raised({ reason }: PluginRule, { message }: PluginResult, since: Date): ConditionFinding {
  return { status: 'True', reason, message, since };
}

function kept({ status, reason, message, since }: DetectedCondition): ConditionFinding {
  return { status, reason, message, since: new Date(since) };
}
