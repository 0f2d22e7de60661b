/** Files of the system log monitor of node-problem-detector. */
import { optional } from '../../../kube/objects/optional.ts';
import { readConditions, readReason, readRuleCondition, requireAbsolutePath, rulePlace } from './common.ts';
import { ConfigFields } from './fields.ts';
import type { DefaultCondition, LogInput, LogMonitorConfig, LogRule } from './monitor.ts';
import { parseTimeLayout } from './time-layout.ts';

const FIELDS = [
  'plugin',
  'pluginConfig',
  'logPath',
  'lookback',
  'delay',
  'skipList',
  'bufferSize',
  'source',
  'metricsReporting',
  'conditions',
  'rules',
];
const LINES = 10;
const BUFFER_SIZE = { least: 0, most: 1000, otherwise: LINES };
const SUFFIX = 'patternGeneratedMessageSuffix';

/** A pattern matches to the end of the buffered lines. A line is matched once, as the last one. */
const TO_THE_END = '\\z';

export function readLogMonitor(value: unknown, file: string): LogMonitorConfig {
  const fields = new ConfigFields(value, '', FIELDS);
  fields.flag('metricsReporting', true);
  const conditions = readConditions(fields);
  return {
    kind: 'Log',
    file,
    source: fields.text('source'),
    input: readInput(fields),
    lookbackMs: fields.milliseconds('lookback', 0),
    delayMs: fields.milliseconds('delay', 0),
    // As in node-problem-detector, 0 is a field that is not set.
    bufferSize: fields.integer('bufferSize', BUFFER_SIZE) || LINES,
    skipList: fields.texts('skipList'),
    conditions,
    rules: fields.list('rules').map((rule, index) => readLogRule(rule, index, conditions)),
  };
}

function readLogRule(value: unknown, index: number, conditions: readonly DefaultCondition[]): LogRule {
  const known = ['type', 'condition', 'reason', 'pattern', SUFFIX];
  const fields = new ConfigFields(value, rulePlace(value, index), known);
  return {
    reason: readReason(fields),
    ...readRuleCondition(fields, conditions),
    pattern: fields.pattern('pattern', TO_THE_END),
    ...optional('suffix', fields.optionalText(SUFFIX)),
  };
}

const PLUGIN_FIELDS: Readonly<Record<LogInput['plugin'], readonly string[]>> = {
  kmsg: [],
  journald: ['source'],
  filelog: ['timestamp', 'message', 'timestampFormat'],
};

function readInput(outer: ConfigFields): LogInput {
  const plugin = outer.text('plugin') as LogInput['plugin'];
  if (!Object.hasOwn(PLUGIN_FIELDS, plugin)) {
    throw outer.error('plugin', `expected kmsg, journald, filelog or custom, got "${plugin}"`);
  }
  const config = outer.value('pluginConfig') ?? {};
  const fields = new ConfigFields(config, outer.placeOf('pluginConfig'), PLUGIN_FIELDS[plugin]);
  if (plugin === 'kmsg') return { plugin };
  if (plugin === 'filelog') return readFileInput(outer, fields);
  return { plugin, identifier: fields.text('source'), ...optional('directory', readPath(outer)) };
}

function readFileInput(outer: ConfigFields, fields: ConfigFields): LogInput {
  const layout = parseTimeLayout(fields.text('timestampFormat'));
  if (typeof layout === 'string') throw fields.error('timestampFormat', layout);
  const path = readPath(outer) ?? outer.text('logPath');
  const format = { timestamp: fields.pattern('timestamp'), message: fields.pattern('message'), layout };
  return { plugin: 'filelog', path, format };
}

function readPath(fields: ConfigFields): string | undefined {
  const path = fields.optionalText('logPath');
  return path === undefined ? undefined : requireAbsolutePath(fields, 'logPath', path);
}
