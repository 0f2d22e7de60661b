/** Runs one log monitor: follows its log, matches each line, and judges its conditions. */
import { setImmediate } from 'node:timers/promises';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { LogMonitorConfig, LogRule } from '../config/monitor.ts';
import type { DetectedEvent } from '../match/condition.ts';
import {
  addEvidence,
  type Evidence,
  judgeLog,
  movedBy,
  noLaterThan,
  type RuleMatch,
  temporaryEvent,
} from '../match/evidence.ts';
import { LogBuffer, type LogLine } from '../match/log-buffer.ts';
import type { LogBatch, LogSource } from '../sources/log-source.ts';
import { MonitorReport, type ProblemMonitor, type SavedMonitor } from './problem-monitor.ts';

export interface LogMonitorOptions {
  readonly config: LogMonitorConfig;
  readonly source: LogSource;
  readonly saved?: SavedMonitor;
  /** When the host booted, by the wall clock of now. */
  readonly bootedMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onChange: () => void;
}

const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** A clock that is adjusted slowly, as by NTP, does not jump. */
const MIN_JUMP_MS = 1000;
/** After so many lines other work of the agent gets its turn. */
const LINES_AT_ONCE = 20;

export function createLogMonitor(options: LogMonitorOptions): ProblemMonitor {
  return new LogMonitor(options);
}

class LogMonitor implements ProblemMonitor {
  readonly file: string;
  readonly source: string;
  readonly #options: LogMonitorOptions;
  readonly #report: MonitorReport;
  readonly #buffer: LogBuffer;
  readonly #tooLong = new Set<LogRule>();
  #evidence: readonly Evidence[];
  #position: string | undefined;
  #unreadable: string | undefined;
  /** The wall clock is ahead of the monotonic one by this. */
  #offsetMs: number;

  constructor(options: LogMonitorOptions) {
    const { config, saved, onChange } = options;
    this.file = config.file;
    this.source = config.source;
    this.#options = options;
    this.#report = new MonitorReport(saved?.conditions ?? [], onChange);
    this.#buffer = new LogBuffer(config.bufferSize);
    this.#offsetMs = this.#currentOffsetMs();
    this.#evidence = noLaterThan(saved?.evidence ?? [], options.clock.now());
    this.#position = saved?.position;
    this.judge();
  }

  conditions(): SavedMonitor['conditions'] {
    return this.#report.conditions;
  }

  takeEvents(): readonly DetectedEvent[] {
    return this.#report.takeEvents();
  }

  saved(): SavedMonitor {
    return {
      conditions: this.#report.conditions,
      evidence: this.#evidence,
      ...optional('position', this.#position),
    };
  }

  rearm(): void {
    this.#evidence = [];
    this.judge();
  }

  judge(): void {
    this.#judgeWith([]);
  }

  #judgeWith(events: readonly DetectedEvent[]): void {
    this.#followClock();
    const judged = judgeLog({
      monitor: this.#options.config,
      evidence: this.#evidence,
      before: this.#report.conditions,
      ...optional('unreadable', this.#unreadable),
      now: this.#options.clock.now(),
    });
    this.#report.update(judged.conditions, [...events, ...judged.events]);
  }

  /** Windows and delays last as long as they should, whatever happens to the wall clock. */
  #followClock(): void {
    const jumpMs = this.#currentOffsetMs() - this.#offsetMs;
    if (Math.abs(jumpMs) < MIN_JUMP_MS) return;
    this.#offsetMs += jumpMs;
    this.#evidence = movedBy(this.#evidence, jumpMs);
  }

  #currentOffsetMs(): number {
    const { clock } = this.#options;
    return clock.now().getTime() - clock.monotonicMs();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let retryMs = MIN_RETRY_MS; !signal.aborted; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      const hadPosition = this.#position;
      await this.#follow(signal);
      if (this.#position !== hadPosition) retryMs = MIN_RETRY_MS;
      await clock.sleep(retryMs, signal).catch(() => undefined);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { source } = this.#options;
    try {
      await source.follow({
        ...optional('position', this.#position),
        since: this.#since(),
        opened: () => this.#setUnreadable(undefined),
        deliver: (batch) => this.#accept(batch),
        signal,
      });
    } catch (error) {
      if (!signal.aborted) this.#setUnreadable(error);
    }
  }

  /**
   * Lines of an earlier boot never count. After a restart of the agent, all that were not read yet count. The boundary moves with
   * a clock that is set back: otherwise no line would count until the time that the clock had before.
   */
  #since(): () => Date {
    const { config, bootedMs, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const isFirst = this.#position === undefined;
    const currentMs = (): number => {
      const bootMs = bootedMs() + config.delayMs;
      const followedMs = clock.monotonicMs() - startedMs;
      return isFirst ? Math.max(bootMs, clock.now().getTime() - followedMs - config.lookbackMs) : bootMs;
    };
    const firstMs = currentMs();
    return () => {
      const sinceMs = Math.min(firstMs, currentMs());
      // Lines of most files have whole seconds: one of this second must not look older than its start.
      return new Date(sinceMs - (sinceMs % 1000));
    };
  }

  #setUnreadable(error: unknown): void {
    const { config, log } = this.#options;
    const because = error instanceof Error ? error.message : undefined;
    const unreadable = because && `the log of ${config.source} cannot be read: ${because}`;
    if (unreadable === this.#unreadable) return;
    this.#unreadable = unreadable;
    if (because !== undefined) log.warn('log not read', { source: config.source, error });
    this.judge();
  }

  async #accept({ lines, position }: LogBatch): Promise<void> {
    const { skipList } = this.#options.config;
    const counting = lines.filter(({ message }) => !skipList.some((text) => message.includes(text)));
    for (const [index, line] of counting.entries()) {
      this.#judgeLine(line);
      if (index % LINES_AT_ONCE === LINES_AT_ONCE - 1) await setImmediate();
    }
    this.#position = position;
  }

  /** A condition has the time and the message of the line that raised it, also when the next one came in the same read. */
  #judgeLine(line: LogLine): void {
    const before = this.#evidence;
    const events = this.#matchLine(line);
    if (this.#evidence !== before || events.length > 0) this.#judgeWith(events);
  }

  #matchLine(line: LogLine): readonly DetectedEvent[] {
    this.#buffer.push(line);
    return this.#options.config.rules.flatMap((rule) => {
      const found = this.#buffer.match(rule.pattern);
      if (found === 'TooLong') this.#warnOfLimit(rule);
      const [first, ...more] = found === 'TooLong' ? [] : found;
      return first ? this.#raise({ rule, lines: [first, ...more] }) : [];
    });
  }

  #raise(match: RuleMatch): readonly DetectedEvent[] {
    this.#followClock();
    this.#evidence = noLaterThan(addEvidence(this.#evidence, match), this.#options.clock.now());
    return [temporaryEvent(match) ?? []].flat();
  }

  /** Logs that a rule reached its limit, once for each rule. */
  #warnOfLimit(rule: LogRule): void {
    if (this.#tooLong.has(rule)) return;
    this.#tooLong.add(rule);
    const { log, config } = this.#options;
    log.warn('pattern not matched within its limit', { source: config.source, reason: rule.reason });
  }
}
