/** What the results of custom plug-ins say about conditions. Pure. */
import type { DefaultCondition, PluginMonitorConfig, PluginRule } from '../config/monitor.ts';
import {
  type ConditionFinding,
  type DetectedCondition,
  type DetectedEvent,
  type Judgement,
  quiet,
  reportConditions,
} from './condition.ts';

export interface PluginResult {
  readonly status: 'Ok' | 'Problem' | 'Unknown';
  readonly message: string;
}

export interface PluginRun {
  /** Undefined when a signal ended it. */
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly output: string;
}

/** Exit code 0 is good, 1 a problem. Everything else, and no answer in time, is unknown. */
export function pluginResult(
  { exitCode, timedOut, output }: PluginRun,
  { path }: Pick<PluginRule, 'path'>,
  maxLength: number,
): PluginResult {
  const text = output.trim();
  const message = timedOut
    ? `Timeout when running plugin ${JSON.stringify(path)}: output - ${JSON.stringify(text)}`
    : text;
  return { status: timedOut ? 'Unknown' : statusOf(exitCode), message: cutBytes(message, maxLength) };
}

function statusOf(exitCode: number | undefined): PluginResult['status'] {
  if (exitCode === 0) return 'Ok';
  return exitCode === 1 ? 'Problem' : 'Unknown';
}

/** The length is in bytes. A character is not cut in two. */
function cutBytes(text: string, maxLength: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, maxLength), { stream: true });
}

/** A temporary rule only reports, each time that its plug-in does not answer with 0. */
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
  const { monitor, before } = input;
  const findings = monitor.conditions.flatMap((condition) => {
    const finding = findingOf(condition, input);
    return finding ? [[condition.type, finding] as const] : [];
  });
  return reportConditions(before, findings, monitor.reportsMessageChanges);
}

/** A problem of one rule counts more than the others of its condition, and an unknown one more than a good one. */
function findingOf(
  condition: DefaultCondition,
  { monitor, results, before, now }: PluginJudgementInput,
): ConditionFinding | undefined {
  const rules = monitor.rules.filter((rule) => rule.condition === condition.type);
  const known = rules.flatMap((rule) => {
    const result = results.get(rule);
    return result ? [{ rule, result }] : [];
  });
  const problem = known.find(({ result }) => result.status === 'Problem');
  if (problem) return raised(problem.rule, problem.result, now);
  const startedAt = monitor.skipsInitialStatus ? undefined : now;
  if (known.length < rules.length) return withoutAllResults(condition, before, startedAt);
  const normal = quiet(condition, now);
  const unknown = known.find(({ result }) => result.status === 'Unknown');
  return unknown ? { ...normal, status: 'Unknown', message: unknown.result.message } : normal;
}

/** After a restart the last report holds until each rule has a result again. */
function withoutAllResults(
  condition: DefaultCondition,
  before: readonly DetectedCondition[],
  startedAt: Date | undefined,
): ConditionFinding | undefined {
  const last = before.find(({ type }) => type === condition.type);
  if (last) return kept(last);
  return startedAt && quiet(condition, startedAt);
}

function raised({ reason }: PluginRule, { message }: PluginResult, since: Date): ConditionFinding {
  return { status: 'True', reason, message, since };
}

function kept({ status, reason, message, since }: DetectedCondition): ConditionFinding {
  return { status, reason, message, since: new Date(since) };
}
