/**
 * Our files beside those of node-problem-detector: when a condition that a log line raised becomes False again. They are
 * separate, so that node-problem-detector can read its own files unchanged.
 */

import { rulePlace } from './common.ts';
import { ConfigFields } from './fields.ts';
import { ConfigError, type LogMonitorConfig, type LogRule, type MonitorConfig } from './monitor.ts';

const COUNT = { least: 1, most: 1000 };
/** The bounds of a window: a second, and a week. */
const SECONDS = { least: 1, most: 7 * 86_400 };

export interface Supplement {
  readonly source: string;
  readonly apply: (monitor: MonitorConfig) => LogMonitorConfig;
}

export function readSupplement(value: unknown): Supplement {
  const fields = new ConfigFields(value, '', ['source', 'conditions', 'rules']);
  const clears = fields.list('conditions').map((each, index) => {
    const own = new ConfigFields(each, `conditions[${index}]`, ['type', 'clearAfter']);
    own.text('clearAfter');
    return { place: own, type: own.text('type'), clearAfterMs: own.milliseconds('clearAfter', 0) };
  });
  const windows = fields.list('rules').map((each, index) => {
    const own = new ConfigFields(each, rulePlace(each, index), ['reason', 'count', 'windowSeconds']);
    const window = {
      count: own.integer('count', COUNT),
      windowMs: own.integer('windowSeconds', SECONDS) * 1000,
    };
    return { place: own, reason: own.text('reason'), window };
  });
  return {
    source: fields.text('source'),
    apply(monitor) {
      if (monitor.kind === 'Plugin') {
        throw new ConfigError(
          'source',
          `${monitor.file} has plug-ins, which clear their conditions themselves`,
        );
      }
      const rules = windows.reduce(withWindow, monitor.rules);
      return { ...monitor, rules, conditions: clears.reduce(withClear(rules), monitor.conditions) };
    },
  };
}

interface WindowOfRule {
  readonly place: ConfigFields;
  readonly reason: string;
  readonly window: NonNullable<LogRule['window']>;
}

/** Adds the window to all permanent rules with that reason. */
function withWindow(rules: readonly LogRule[], { place, reason, window }: WindowOfRule): readonly LogRule[] {
  const applies = (rule: LogRule): boolean => rule.reason === reason && rule.condition !== undefined;
  if (!rules.some(applies)) throw place.error('reason', `the monitor has no permanent rule ${reason}`);
  return rules.map((rule) => (applies(rule) ? { ...rule, window } : rule));
}

interface ClearOfCondition {
  readonly place: ConfigFields;
  readonly type: string;
  readonly clearAfterMs: number;
}

type Conditions = LogMonitorConfig['conditions'];

function withClear(rules: readonly LogRule[]) {
  return (conditions: Conditions, { place, type, clearAfterMs }: ClearOfCondition): Conditions => {
    if (!conditions.some((each) => each.type === type)) {
      throw place.error('type', `the monitor has no condition ${type}`);
    }
    if (rules.some(({ condition, window }) => condition === type && window)) {
      throw place.error('clearAfter', `${type} is cleared by the window of its rule`);
    }
    return conditions.map((each) => (each.type === type ? { ...each, clearAfterMs } : each));
  };
}
