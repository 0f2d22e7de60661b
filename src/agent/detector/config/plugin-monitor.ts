/** Files of the custom plug-in monitor of node-problem-detector. */
import { basename } from 'node:path';
import { optional } from '../../../kube/objects/optional.ts';
import type { ProgramRights } from '../../host/port.ts';
import { readConditions, readReason, readRuleCondition, requireAbsolutePath, rulePlace } from './common.ts';
import { ConfigFields } from './fields.ts';
import type { DefaultCondition, PluginMonitorConfig, PluginRule } from './monitor.ts';

const FIELDS = ['plugin', 'pluginConfig', 'source', 'metricsReporting', 'conditions', 'rules', 'rights'];
const RULE_FIELDS = ['type', 'condition', 'reason', 'path', 'args', 'timeout', 'invoke_interval'];
const GLOBAL_FIELDS = [
  'invoke_interval',
  'timeout',
  'max_output_length',
  'concurrency',
  'enable_message_change_based_condition_update',
  'skip_initial_status',
];
// Defaults of node-problem-detector.
const TIMEOUT_MS = 5000;
const INTERVAL_MS = 30_000;
const OUTPUT_LENGTH = { least: 1, most: 4096, otherwise: 80 };
const CONCURRENCY = { least: 1, most: 100, otherwise: 3 };

export function readPluginMonitor(value: unknown, file: string): PluginMonitorConfig {
  const fields = new ConfigFields(value, '', FIELDS);
  fields.flag('metricsReporting', true);
  const global = new ConfigFields(fields.value('pluginConfig') ?? {}, 'pluginConfig', GLOBAL_FIELDS);
  const conditions = readConditions(fields);
  const timing = {
    timeoutMs: readPositive(global, 'timeout', TIMEOUT_MS),
    intervalMs: readPositive(global, 'invoke_interval', INTERVAL_MS),
  };
  return {
    kind: 'Plugin',
    file,
    source: fields.text('source'),
    maxOutputLength: global.integer('max_output_length', OUTPUT_LENGTH),
    concurrency: global.integer('concurrency', CONCURRENCY),
    reportsMessageChanges: global.flag('enable_message_change_based_condition_update', false),
    skipsInitialStatus: global.flag('skip_initial_status', false),
    conditions,
    ...optional('rights', readRights(fields)),
    rules: fields.list('rules').map((rule, index) => {
      const own = new ConfigFields(rule, rulePlace(rule, index), RULE_FIELDS);
      return readPluginRule(own, conditions, timing);
    }),
  };
}

const USER = /^(?:[a-z_][a-z0-9_-]*|\d+)$/;
const CAPABILITY = /^CAP_[A-Z_]+$/;

/**
 * node-problem-detector ignores this field, which only kubenode has. It is in the file of the plug-ins and not beside it, because a file
 * that is refused must not leave them with all rights.
 */
function readRights(outer: ConfigFields): ProgramRights | undefined {
  const value = outer.value('rights');
  if (value === undefined) return undefined;
  const fields = new ConfigFields(value, 'rights', ['user', 'capabilities']);
  const user = fields.optionalText('user') ?? 'root';
  if (!USER.test(user)) throw fields.error('user', `expected the name of a user, got "${user}"`);
  const capabilities = fields.texts('capabilities');
  const wrong = capabilities.find((name) => !CAPABILITY.test(name));
  if (wrong !== undefined) {
    throw fields.error('capabilities', `expected names such as CAP_NET_ADMIN, got "${wrong}"`);
  }
  return { user, capabilities };
}

type Timing = Pick<PluginRule, 'timeoutMs' | 'intervalMs'>;

function readPluginRule(
  fields: ConfigFields,
  conditions: readonly DefaultCondition[],
  outer: Timing,
): PluginRule {
  const timeoutMs = readPositive(fields, 'timeout', outer.timeoutMs);
  if (timeoutMs > outer.timeoutMs) throw fields.error('timeout', 'longer than pluginConfig.timeout');
  const path = requireAbsolutePath(fields, 'path', fields.text('path'));
  const args = fields.texts('args');
  if (repairs(path, args)) {
    throw fields.error(
      'args',
      'the detector never repairs, as each repair needs a grant: pass --enable-repair=false, and use a NodeRemedier',
    );
  }
  return {
    reason: readReason(fields),
    ...readRuleCondition(fields, conditions),
    path,
    args,
    timeoutMs,
    intervalMs: readPositive(fields, 'invoke_interval', outer.intervalMs),
  };
}

function readPositive(fields: ConfigFields, field: string, otherwise: number): number {
  const value = fields.milliseconds(field, otherwise);
  if (value <= 0) throw fields.error(field, 'expected a duration above 0');
  return value;
}

const REPAIR = /^--?enable-repair(?:=(?<value>.*))?$/;
const OFF = ['false', 'False', 'FALSE', 'f', 'F', '0'];

/** The health checker of node-problem-detector restarts services unless that is switched off. */
function repairs(path: string, args: readonly string[]): boolean {
  const last = args.map((arg) => REPAIR.exec(arg)).findLast((found) => found !== null);
  if (!last) return /^health-checker(?:\.exe)?$/.test(basename(path));
  return !OFF.includes(last.groups?.['value'] ?? 'true');
}
