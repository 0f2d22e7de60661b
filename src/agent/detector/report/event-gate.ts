/**
 * Holds back the Events of a monitor while another program reports the same: one line of a log must not count twice for rules.
 * Events that came after the last sign of life of that program are recorded once the agent takes over.
 */
import type { DetectedEvent } from '../match/condition.ts';
import type { ActiveWriter } from './node-reporter.ts';

export interface MonitorEvents {
  readonly source: string;
  /** Types of the conditions of the monitor. */
  readonly conditions: readonly string[];
  readonly events: readonly DetectedEvent[];
}

interface HeldEvent {
  readonly source: string;
  readonly event: DetectedEvent;
  readonly atMs: number;
  /** Until when another program reported it; undefined before that is known. */
  readonly aliveMs?: number;
}

/** As many as a monitor keeps between two reports. */
const MAX_HELD = 1000;

export class EventGate {
  #held: readonly HeldEvent[] = [];

  add(monitors: readonly MonitorEvents[], nowMs: number): void {
    const found = monitors.flatMap(({ source, events }) =>
      events.map((event): HeldEvent => ({ source, event, atMs: nowMs })),
    );
    this.#held = [...this.#held, ...found].slice(-MAX_HELD);
  }

  /** What to record now. Events of a monitor that was removed are forgotten. `standby` is undefined while it is not known who else reports. */
  take(
    monitors: readonly Omit<MonitorEvents, 'events'>[],
    standby: readonly ActiveWriter[] | undefined,
  ): readonly (readonly [source: string, event: DetectedEvent])[] {
    if (!standby) return [];
    const passed: HeldEvent[] = [];
    const held: HeldEvent[] = [];
    const isLeft = ({ source }: HeldEvent): boolean => monitors.some((each) => each.source === source);
    for (const each of this.#held.filter(isLeft)) {
      const aliveMs = lastAliveMs(each, monitors, standby);
      if (aliveMs !== undefined) held.push({ ...each, aliveMs });
      else passed.push(each);
    }
    // The other program was alive after these: it has reported them.
    this.#held = held.filter(isAfterLastSign);
    return passed.filter(isAfterLastSign).map(({ source, event }) => [source, event] as const);
  }
}

function isAfterLastSign({ atMs, aliveMs }: HeldEvent): boolean {
  return aliveMs === undefined || atMs > aliveMs;
}

/** An Event that names no condition belongs to all conditions of its source. Undefined when no other program reports them. */
function lastAliveMs(
  { source, event }: HeldEvent,
  monitors: readonly Omit<MonitorEvents, 'events'>[],
  standby: readonly ActiveWriter[],
): number | undefined {
  const types =
    event.condition === undefined
      ? monitors.filter((each) => each.source === source).flatMap(({ conditions }) => conditions)
      : [event.condition];
  const signs = standby.filter(({ type }) => types.includes(type)).map(({ aliveMs }) => aliveMs);
  return signs.length === 0 ? undefined : Math.max(...signs);
}
