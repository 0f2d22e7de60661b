/**
 * Reads all files of the folder of the detector. A file with a problem does not keep the others from being used, and a condition
 * that another file has does not keep the rest of its file from being used.
 */

import { isRecord } from '../../../kube/objects/json.ts';
import { messageOf } from '../../../os/errors.ts';
import { readLogMonitor } from './log-monitor.ts';
import { ConfigError, type MonitorConfig } from './monitor.ts';
import { readPluginMonitor } from './plugin-monitor.ts';
import { readSupplement } from './supplement.ts';

export interface ConfigFile {
  readonly name: string;
  readonly content: string;
}

export interface DetectorConfig {
  readonly monitors: readonly MonitorConfig[];
  /** The reasons why a file or a condition of it is not used, each with the name of the file. */
  readonly problems: readonly string[];
}

/** The ending of our files; each other .json is a file of node-problem-detector. */
const SUPPLEMENT = '.kubenode.json';
const NO_PLUGIN =
  'missing: only files of the system log monitor and of the custom plug-in monitor are read, not those of metrics';

export function loadDetectorConfig(files: readonly ConfigFile[]): DetectorConfig {
  const problems: string[] = [];
  const monitors: MonitorConfig[] = [];
  const isSupplement = ({ name }: ConfigFile): boolean => name.endsWith(SUPPLEMENT);

  function attempt(name: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }

  for (const file of files.filter((each) => !isSupplement(each))) {
    attempt(file.name, () => {
      const monitor = readMonitor(file);
      const shared = sharedConditions(monitor, monitors);
      problems.push(...shared.map(({ type, other }) => sharedProblem(monitor, type, other)));
      const rest = withoutConditions(monitor, new Set(shared.map(({ type }) => type)));
      if (shared.length === 0 || rest.rules.length > 0) monitors.push(rest);
    });
  }
  for (const file of files.filter(isSupplement)) {
    attempt(file.name, () => {
      const supplement = readSupplement(parseJson(file));
      const monitor = findSupplemented(monitors, supplement.source);
      monitors[monitors.indexOf(monitor)] = supplement.apply(monitor);
    });
  }
  return { monitors, problems };
}

function readMonitor(file: ConfigFile): MonitorConfig {
  const value = parseJson(file);
  const plugin = isRecord(value) ? value['plugin'] : 'none';
  if (plugin === undefined) throw new ConfigError('plugin', NO_PLUGIN);
  return plugin === 'custom' ? readPluginMonitor(value, file.name) : readLogMonitor(value, file.name);
}

/** Finds the monitor that a supplement belongs to. Several files may have one source, but only one of them reads a log. */
function findSupplemented(monitors: readonly MonitorConfig[], source: string): MonitorConfig {
  const found = monitors.filter((each) => each.source === source);
  const logs = found.filter(({ kind }) => kind === 'Log');
  const [monitor] = logs.length > 0 ? logs : found;
  if (!monitor) throw new ConfigError('source', `no file that is in use has the source ${source}`);
  if (logs.length < 2) return monitor;
  const names = logs.map(({ file }) => file).join(' and ');
  throw new ConfigError('source', `${source} is the source of ${names}: give each its own source`);
}

interface SharedCondition {
  readonly type: string;
  /** The file that has the condition already. */
  readonly other: string;
}

/** Returns the conditions that another monitor has already. Two monitors would overwrite the condition of each other. */
function sharedConditions(
  monitor: MonitorConfig,
  others: readonly MonitorConfig[],
): readonly SharedCondition[] {
  return monitor.conditions.flatMap(({ type }) => {
    const other = others.find(({ conditions }) => conditions.some((each) => each.type === type));
    return other ? [{ type, other: other.file }] : [];
  });
}

function sharedProblem({ file, rules }: MonitorConfig, type: string, other: string): string {
  const reasons = new Set(rules.filter(({ condition }) => condition === type).map(({ reason }) => reason));
  const dropped = reasons.size === 0 ? 'it is' : `it and its rules ${[...reasons].join(', ')} are`;
  return `${file}: conditions: ${type} is a condition of ${other}, too: ${dropped} not used. Remove one of the two`;
}

function withoutConditions(monitor: MonitorConfig, types: ReadonlySet<string>): MonitorConfig {
  const conditions = monitor.conditions.filter(({ type }) => !types.has(type));
  const isLeft = ({ condition }: { readonly condition?: string }): boolean =>
    condition === undefined || !types.has(condition);
  return monitor.kind === 'Log'
    ? { ...monitor, conditions, rules: monitor.rules.filter(isLeft) }
    : { ...monitor, conditions, rules: monitor.rules.filter(isLeft) };
}

function parseJson({ content }: ConfigFile): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new ConfigError('', `not JSON: ${messageOf(error)}`);
  }
}
