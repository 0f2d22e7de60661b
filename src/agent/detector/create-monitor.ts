/** Connects a monitor with the log or the programs of its host. */
import { uptime } from 'node:os';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { Host } from '../host/port.ts';
import type { LogMonitorConfig, MonitorConfig } from './config/monitor.ts';
import { pathOnDisk } from './host-path.ts';
import { createLogMonitor } from './monitors/log-monitor-run.ts';
import { createPluginMonitor } from './monitors/plugin-monitor-run.ts';
import type { ProblemMonitor, SavedMonitor } from './monitors/problem-monitor.ts';
import { createFileLog } from './sources/file-log.ts';
import { createJournalLog } from './sources/journal-log.ts';
import { createKernelLog } from './sources/kernel-log.ts';
import type { LogSource } from './sources/log-source.ts';

export interface MonitorContext {
  readonly host: Host;
  /** When the host booted, by the wall clock of now. */
  readonly bootedMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

export function createMonitor(
  config: MonitorConfig,
  context: MonitorContext,
  saved: SavedMonitor | undefined,
): ProblemMonitor {
  const common = { ...context, ...optional('saved', saved) };
  if (config.kind === 'Plugin') {
    const because = `host ${context.host.type} runs programs as the agent itself`;
    const isApplied = config.rights === undefined || context.host.type === 'systemd';
    if (!isApplied) context.log.warn('rights of plug-ins not applied', { file: config.file, because });
    return createPluginMonitor({ ...common, config });
  }
  return createLogMonitor({ ...common, config, source: sourceOf(config, context) });
}

function sourceOf({ input, skipList }: LogMonitorConfig, { host, clock, log }: MonitorContext): LogSource {
  const onDisk = (path: string): string => pathOnDisk(host, path);
  if (input.plugin === 'kmsg') {
    return createKernelLog({ path: onDisk('/dev/kmsg'), clock, uptimeMs: () => uptime() * 1000 });
  }
  if (input.plugin === 'filelog') {
    return createFileLog({ ...input, path: onDisk(input.path), skipList, clock });
  }
  // A sandbox has no journal of its own: without a directory it would read that of the machine.
  const directory = input.directory ?? (host.directory === '/' ? undefined : '/var/log/journal');
  return createJournalLog({
    identifier: input.identifier,
    clock,
    log,
    ...(directory && { directory: onDisk(directory) }),
  });
}
