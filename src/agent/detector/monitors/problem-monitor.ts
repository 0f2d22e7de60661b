/** Defines the monitor that runs for one file of the configuration. */
import type { DetectedCondition, DetectedEvent } from '../match/condition.ts';
import type { Evidence } from '../match/evidence.ts';

export interface ProblemMonitor {
  /** The name of the file. Several files may have the same source. */
  readonly file: string;
  /** The source that its Events are reported with. */
  readonly source: string;
  conditions(): readonly DetectedCondition[];
  /** Returns the Events since the last call. */
  takeEvents(): readonly DetectedEvent[];
  saved(): SavedMonitor;
  /** Judges the conditions again: they also change with time alone. */
  judge(): void;
  /** Forgets what was raised, so that only what comes now counts. */
  rearm(): void;
  /** Runs until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** Holds what a restart of the agent keeps of a monitor within a boot. */
export interface SavedMonitor {
  readonly conditions: readonly DetectedCondition[];
  readonly evidence?: readonly Evidence[];
  readonly position?: string;
}

/** The number of Events that are kept between two reports; older ones are dropped. */
const MAX_EVENTS = 1000;

/** Collects the conditions and events of one monitor. */
export class MonitorReport {
  #conditions: readonly DetectedCondition[];
  #events: DetectedEvent[] = [];
  readonly #onChange: () => void;

  constructor(conditions: readonly DetectedCondition[], onChange: () => void) {
    this.#conditions = conditions;
    this.#onChange = onChange;
  }

  get conditions(): readonly DetectedCondition[] {
    return this.#conditions;
  }

  takeEvents(): readonly DetectedEvent[] {
    return this.#events.splice(0);
  }

  /** Records conditions and Events. `conditions` holds the same objects for conditions that did not change. */
  update(conditions: readonly DetectedCondition[], events: readonly DetectedEvent[]): void {
    const isChanged = conditions.some((each) => !this.#conditions.includes(each));
    this.#conditions = conditions;
    this.#events = [...this.#events, ...events].slice(-MAX_EVENTS);
    if (isChanged || events.length > 0) this.#onChange();
  }
}
