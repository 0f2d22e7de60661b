/**
 * Holds back the Events of a monitor while another program reports the same: one line of a log must not count twice for rules.
 * Events that came after the last sign of life of that program are recorded once the agent takes over.
 */
import { optional } from '../../../kube/objects/optional.ts';
import type { DetectedEvent } from '../match/condition.ts';
import type { ActiveWriter, ReportOutcome } from './node-reporter.ts';

export interface MonitorEvents {
  readonly source: string;
  /** The types of the conditions of the monitor. */
  readonly conditions: readonly string[];
  readonly events: readonly DetectedEvent[];
}

interface HeldEvent {
  readonly source: string;
  readonly event: DetectedEvent;
  readonly atMs: number;
  /** The time until which another program reported the condition; undefined before that is known. */
  readonly aliveMs?: number;
}

type OtherReporters = Pick<ReportOutcome, 'standby' | 'beside' | 'reasons'>;

/** The maximum number of held Events: as many as a monitor keeps between two reports. */
const MAX_HELD = 1000;

export class EventGate {
  #held: readonly HeldEvent[] = [];

  add(monitors: readonly MonitorEvents[], nowMs: number): void {
    const found = monitors.flatMap(({ source, events }) =>
      events.map((event): HeldEvent => ({ source, event, atMs: nowMs })),
    );
    this.#held = [...this.#held, ...found].slice(-MAX_HELD);
  }

  /** Returns what to record now: nothing while it is not known who else reports. Events of a monitor that was removed are forgotten. */
  take(
    monitors: readonly Omit<MonitorEvents, 'events'>[],
    { standby, beside = [], reasons }: OtherReporters,
  ): readonly (readonly [source: string, event: DetectedEvent])[] {
    if (!standby) return [];
    const passed: HeldEvent[] = [];
    const held: HeldEvent[] = [];
    const isLeft = ({ source }: HeldEvent): boolean => monitors.some((each) => each.source === source);
    for (const each of this.#held.filter(isLeft)) {
      const alive = writersOf(each, monitors, { standby, beside, ...optional('reasons', reasons) });
      const aliveMs = alive.length > 0 ? Math.max(...alive.map((writer) => writer.aliveMs)) : undefined;
      if (aliveMs !== undefined) held.push({ ...each, aliveMs });
      else passed.push(each);
    }
    // The other program was alive after these: it has reported them.
    this.#held = held.filter(isAfterLastSign);
    return passed.map(({ source, event }) => [source, event] as const);
  }
}

function isAfterLastSign({ atMs, aliveMs }: HeldEvent): boolean {
  return aliveMs === undefined || atMs > aliveMs;
}

/**
 * Returns the programs that report the same Event. Without their reasons, an Event that names no condition belongs to all conditions of its
 * source.
 */
function writersOf(
  { source, event }: HeldEvent,
  monitors: readonly Omit<MonitorEvents, 'events'>[],
  { standby = [], beside = [], reasons }: OtherReporters,
): readonly ActiveWriter[] {
  const { condition, reason } = event;
  if (condition !== undefined) return standby.filter(({ type }) => type === condition);
  if (reasons) return reasons.has(reason) ? [...standby, ...beside] : [];
  const types = monitors.filter((each) => each.source === source).flatMap(({ conditions }) => conditions);
  return standby.filter(({ type }) => types.includes(type));
}
