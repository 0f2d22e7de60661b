/**
 * The problem detector: reads configuration of node-problem-detector from a folder of the host, runs a monitor for each file, and
 * reports what they find as conditions and Events of the Node. It never repairs.
 */
import { isDeepStrictEqual } from 'node:util';
import { ownValue } from '../../kube/objects/json.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { Host } from '../host/port.ts';
import { DETECTOR_DIRECTORY, DETECTOR_REARM_FILE } from '../layout.ts';
import { createReconcileTrigger } from '../run/trigger.ts';
import { AGENT_CONTROLLER } from '../status/event-recorder.ts';
import { type ConfigFile, loadDetectorConfig } from './config/load.ts';
import { readConfigFolder } from './config-folder.ts';
import { createMonitor } from './create-monitor.ts';
import type { ProblemMonitor } from './monitors/problem-monitor.ts';
import { EventGate } from './report/event-gate.ts';
import type { HostPrograms } from './report/host-programs.ts';
import type { NodeConditionsApi } from './report/node-conditions-api.ts';
import type { NodeEvents } from './report/node-events.ts';
import { NodeReporter } from './report/node-reporter.ts';
import type { StandbyCondition } from './report/writers.ts';
import { readSavedMonitors, type SavedMonitors, writeSavedMonitors } from './saved-state.ts';

export interface DetectorOptions {
  readonly host: Host;
  readonly api: NodeConditionsApi;
  readonly events: Pick<NodeEvents, 'record'>;
  /** The programs that run on the host; undefined when it does not show them. */
  readonly programs: () => Promise<HostPrograms | undefined>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Changes within this time are reported together. */
const MIN_WAIT_MS = 200;
/** The precision with which windows and delays end. */
const TICK_MS = 1000;
/** Beside the watch, which may miss a change. */
const READ_CONFIG_MS = 10_000;
/** Positions in logs alone are not worth more writes to the disk. */
const SAVE_MS = 30_000;

export async function runDetector(options: DetectorOptions, signal: AbortSignal): Promise<void> {
  const detector = new Detector(options);
  const watch = options.host.files.watch([DETECTOR_DIRECTORY], () => detector.noteConfigChange());
  try {
    await detector.run(signal);
  } finally {
    await watch[Symbol.asyncDispose]();
    await detector.stop();
  }
}

class Detector {
  readonly #options: DetectorOptions;
  readonly #reporter: NodeReporter;
  readonly #gate = new EventGate();
  readonly #trigger: ReturnType<typeof createReconcileTrigger>;
  #files: readonly ConfigFile[] | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  #savedMs = Number.NEGATIVE_INFINITY;
  #saved: SavedMonitors = {};
  #bootId = '';
  #monitors: readonly ProblemMonitor[] = [];
  #running: { readonly abort: AbortController; readonly done: Promise<unknown> } | undefined;
  #hasReported = false;
  #isRearmed = false;
  #hasSaveFailed = false;

  constructor(options: DetectorOptions) {
    this.#options = options;
    this.#trigger = createReconcileTrigger(options.clock);
    this.#reporter = new NodeReporter({ ...options, onStandby: (standby) => this.#noteStandby(standby) });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#reconcile();
      } catch (error) {
        this.#options.log.error('problem detector failed', { error });
      }
      const maxMs = this.#monitors.length > 0 ? TICK_MS : READ_CONFIG_MS;
      await this.#trigger.wait({ minMs: MIN_WAIT_MS, maxMs }, signal);
    }
  }

  /** The configuration is read again soon. */
  noteConfigChange(): void {
    this.#readMs = Number.NEGATIVE_INFINITY;
    this.#trigger.notify();
  }

  async stop(): Promise<void> {
    this.#running?.abort.abort();
    await this.#running?.done;
    this.#running = undefined;
  }

  async #reconcile(): Promise<void> {
    await this.#readConfig();
    await this.#rearmIfAsked();
    for (const monitor of this.#monitors) monitor.judge();
    // What was raised is on the disk before it is reported: what is raised during the save is reported after the next one.
    const found = this.#monitors.map((monitor) => ({
      source: monitor.source,
      conditions: monitor.conditions().map(({ type }) => type),
      events: monitor.takeEvents(),
    }));
    const conditions = this.#monitors.flatMap((monitor) => monitor.conditions());
    await this.#trySave();
    if (this.#monitors.length === 0 && !this.#hasReported) return;
    this.#gate.add(found, this.#options.clock.monotonicMs());
    const { isWritten, ...others } = await this.#reporter.report(conditions);
    const passed = this.#gate.take(found, others);
    for (const [source, event] of passed) this.#options.events.record(source, [event]);
    this.#hasReported = this.#monitors.length > 0 || !isWritten;
  }

  /** Handles a request of the job step RearmDetector once: its file stays while the disk cannot be written. */
  async #rearmIfAsked(): Promise<void> {
    const isAsked = (await this.#options.host.files.stat(DETECTOR_REARM_FILE)) !== undefined;
    if (isAsked && !this.#isRearmed) {
      for (const monitor of this.#monitors) monitor.rearm();
      this.#options.log.info('problem detector rearmed');
    }
    this.#isRearmed = isAsked;
  }

  /** A full or read-only disk is itself a problem to report, so reporting continues. Logs one line for each outage. */
  async #trySave(): Promise<void> {
    const { host, log } = this.#options;
    try {
      await this.#save();
      if (this.#isRearmed) await host.files.remove(DETECTOR_REARM_FILE);
      this.#isRearmed = false;
      this.#hasSaveFailed = false;
    } catch (error) {
      if (!this.#hasSaveFailed) log.warn('state of the problem detector not saved', { error });
      this.#hasSaveFailed = true;
    }
  }

  async #readConfig(): Promise<void> {
    const { host, clock } = this.#options;
    // The agent of a sandbox lives on when its host boots.
    const hasBooted = this.#bootId !== '' && this.#bootId !== (await host.node.bootId());
    if (!hasBooted && clock.monotonicMs() - this.#readMs < READ_CONFIG_MS) return;
    // Before the read: a change during the read must lead to another one.
    this.#readMs = clock.monotonicMs();
    const files = await readConfigFolder(host.files);
    if (!hasBooted && isDeepStrictEqual(files, this.#files)) return;
    await this.stop();
    await this.#start(files ?? []);
    this.#files = files;
  }

  async #start(files: readonly ConfigFile[]): Promise<void> {
    const { host, clock, log } = this.#options;
    const { monitors, problems } = loadDetectorConfig(files);
    this.#noteProblems(problems);
    const before = await this.#savedBefore();
    const bootedMs = await this.#bootTime();
    const context = { host, bootedMs, clock, log, onChange: () => this.#trigger.notify() };
    this.#monitors = monitors.map((config) => createMonitor(config, context, ownValue(before, config.file)));
    const abort = new AbortController();
    const runs = this.#monitors.map((monitor) => monitor.run(abort.signal));
    if (runs.length > 0) runs.push(this.#options.api.watch(() => this.#trigger.notify(), abort.signal));
    const done = Promise.all(runs);
    this.#running = { abort, done };
    log.info('problem detector configured', {
      sources: monitors.map(({ source }) => source),
      refused: problems.length,
    });
  }

  /** Reads the time of the boot from the uptime, as node-problem-detector does: the wall clock may have been set since the boot. */
  async #bootTime(): Promise<() => number> {
    const { host, clock } = this.#options;
    const bootedMonotonicMs = clock.monotonicMs() - (await host.node.uptimeMs());
    return () => clock.now().getTime() - (clock.monotonicMs() - bootedMonotonicMs);
  }

  /** At the first start, after a change of the configuration, and after a boot, which ends all that was raised before. */
  async #savedBefore(): Promise<SavedMonitors> {
    const { host } = this.#options;
    const bootIdBefore = this.#bootId;
    this.#bootId = await host.node.bootId();
    if (bootIdBefore !== '') return bootIdBefore === this.#bootId ? this.#current() : {};
    const saved = await readSavedMonitors(host.files, this.#bootId);
    // An agent before this one may have reported conditions that no file declares any more.
    this.#hasReported = saved !== undefined && Object.keys(saved).length > 0;
    return saved ?? {};
  }

  #current(): SavedMonitors {
    return Object.fromEntries(this.#monitors.map((monitor) => [monitor.file, monitor.saved()] as const));
  }

  async #save(): Promise<void> {
    const { host, clock } = this.#options;
    const current = this.#current();
    const isChanged = !isDeepStrictEqual(withoutPositions(current), withoutPositions(this.#saved));
    const isDue = clock.monotonicMs() - this.#savedMs >= SAVE_MS && !isDeepStrictEqual(current, this.#saved);
    if (!isChanged && !isDue) return;
    await writeSavedMonitors(host.files, this.#bootId, current);
    this.#saved = current;
    this.#savedMs = clock.monotonicMs();
  }

  #noteProblems(problems: readonly string[]): void {
    for (const problem of problems) {
      this.#options.log.error('file of the problem detector refused', { because: problem });
    }
    const events = problems.map(
      (message) => ({ type: 'Warning', reason: 'AgentDetectorRefused', message }) as const,
    );
    this.#options.events.record(AGENT_CONTROLLER, events);
  }

  #noteStandby(standby: readonly StandbyCondition[]): void {
    this.#options.log.info('problem detector stands by', { standby });
    const text = standby.map(({ type, because }) => `${type}: ${because}`).join('; ');
    const message = text === '' ? 'all conditions are reported by this agent again' : text;
    const event = { type: 'Normal', reason: 'AgentDetectorStandby', message } as const;
    this.#options.events.record(AGENT_CONTROLLER, [event]);
  }
}

function withoutPositions(monitors: SavedMonitors): unknown {
  return Object.entries(monitors).map(([file, { conditions, evidence }]) => [file, conditions, evidence]);
}
