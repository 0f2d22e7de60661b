/** Runs the plug-ins of one file, each at its interval and never beside itself. */

import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import type { Host } from '../../host/port.ts';
import type { PluginMonitorConfig, PluginRule } from '../config/monitor.ts';
import { pathInHost, pathOnDisk } from '../host-path.ts';
import type { DetectedEvent } from '../match/condition.ts';
import { judgePlugins, type PluginResult, pluginEvent, pluginResult } from '../match/plugin-result.ts';
import { MonitorReport, type ProblemMonitor, type SavedMonitor } from './problem-monitor.ts';
import { Slots } from './slots.ts';

export interface PluginMonitorOptions {
  readonly config: PluginMonitorConfig;
  readonly host: Pick<Host, 'directory' | 'files' | 'processes'>;
  readonly saved?: SavedMonitor;
  readonly clock: Clock;
  readonly onChange: () => void;
}

/** node-problem-detector reads so much of a plug-in. */
const MAX_OUTPUT_BYTES = 4096;

export function createPluginMonitor(options: PluginMonitorOptions): ProblemMonitor {
  return new PluginMonitor(options);
}

class PluginMonitor implements ProblemMonitor {
  readonly file: string;
  readonly source: string;
  readonly #options: PluginMonitorOptions;
  readonly #report: MonitorReport;
  readonly #slots: Slots;
  readonly #results = new Map<PluginRule, PluginResult>();

  constructor(options: PluginMonitorOptions) {
    const { config, saved, onChange } = options;
    this.file = config.file;
    this.source = config.source;
    this.#options = options;
    this.#report = new MonitorReport(saved?.conditions ?? [], onChange);
    this.#slots = new Slots(config.concurrency);
    this.judge();
  }

  conditions(): SavedMonitor['conditions'] {
    return this.#report.conditions;
  }

  takeEvents(): readonly DetectedEvent[] {
    return this.#report.takeEvents();
  }

  saved(): SavedMonitor {
    return { conditions: this.#report.conditions };
  }

  /** Plug-ins look at the host each time: they have nothing to forget. */
  rearm(): void {
    this.judge();
  }

  judge(): void {
    this.#judgeWith([]);
  }

  #judgeWith(events: readonly DetectedEvent[]): void {
    const { config, clock } = this.#options;
    const input = {
      monitor: config,
      results: this.#results,
      before: this.#report.conditions,
      now: clock.now(),
    };
    const judged = judgePlugins(input);
    this.#report.update(judged.conditions, [...events, ...judged.events]);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.config.rules.map((rule) => this.#runRule(rule, signal)));
  }

  async #runRule(rule: PluginRule, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      await this.#slots.run(async () => {
        if (signal.aborted) return;
        const result = await this.#check(rule);
        // The stop of the agent may have ended the plug-in, too.
        if (!signal.aborted) this.#accept(rule, result);
      });
      const restMs = startedMs + rule.intervalMs - clock.monotonicMs();
      await clock.sleep(Math.max(0, restMs), signal).catch(() => undefined);
    }
  }

  #accept(rule: PluginRule, result: PluginResult): void {
    this.#results.set(rule, result);
    this.#judgeWith([pluginEvent(rule, result) ?? []].flat());
  }

  async #check(rule: PluginRule): Promise<PluginResult> {
    const { host, config } = this.#options;
    const { path, args, timeoutMs } = rule;
    try {
      if (!(await host.files.stat(pathInHost(host, path)))) throw new Error('no such file');
      const program = pathOnDisk(host, path);
      const limits = {
        timeoutMs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        onlyStdout: true,
        rights: config.rights ?? {},
      };
      return pluginResult(await host.processes.run([program, ...args], limits), rule, config.maxOutputLength);
    } catch (error) {
      const because = messageOf(error);
      return { status: 'Unknown', message: `${path} could not be started: ${because}` };
    }
  }
}
