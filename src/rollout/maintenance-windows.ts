/**
 * Weekly windows and freezes: whether one is open at a moment, and when that changes. Pure.
 *
 * A window opens once on each of its days and closes once, by the wall clock of its time zone. A wall-clock time that occurs
 * twice (the clock is set back) means the first occurrence; one that is skipped (the clock is set forward) means the moment of
 * the change. A window that is skipped as a whole does not open that day.
 */

import type { Freeze, Window } from '../api/generated/types.ts';
import { firstMoment } from '../os/dates.ts';
import type { Limit } from './limit.ts';

export interface WindowState<W> {
  /** The open window that closes last; undefined: every window is closed. */
  readonly open: W | undefined;
  /** When the first one opens, or the last one closes. Undefined: never. */
  readonly changesAt: Date | undefined;
}

/** Outside of all windows nothing may start. Without any window, everything may. */
export function windowLimit(windows: readonly Window[], now: Date): Limit | undefined {
  if (windows.length === 0) return undefined;
  const unknown = windows.find(({ timeZone }) => !isTimeZone(timeZone));
  if (unknown) {
    const because = `window ${unknown.name} has the unknown time zone ${unknown.timeZone}: use a name such as Europe/Berlin`;
    return { slots: 0, reason: 'InvalidWindow', because };
  }
  const { open, changesAt } = windowState(windows, now);
  if (open) return undefined;
  const names = windows.map(({ name }) => name).join(', ');
  const opening = changesAt ? `the next one opens at ${changesAt.toISOString()}` : 'none of them ever opens';
  return {
    slots: 0,
    reason: 'OutsideWindow',
    because: `outside of the windows (${names}): ${opening}`,
    ...(changesAt ? { until: changesAt } : {}),
  };
}

export interface ClosedTimes {
  readonly windows: readonly Window[];
  readonly freezes: readonly Freeze[];
}

/** During a freeze, and outside of all windows, nothing may start. A freeze is named first: it is an exception. */
export function closedLimit({ windows, freezes }: ClosedTimes, now: Date): Limit | undefined {
  return freezeLimit(freezes, now) ?? windowLimit(windows, now);
}

/** Tells whether this version of the ICU data knows the zone. */
export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** During a freeze nothing may start. */
export function freezeLimit(freezes: readonly Freeze[], now: Date): Limit | undefined {
  const freeze = activeFreeze(freezes, now);
  if (!freeze) return undefined;
  const until = new Date(freeze.until);
  const because = `freeze ${freeze.name} until ${until.toISOString()}: ${freeze.reason}`;
  return { slots: 0, reason: 'Freeze', because, until };
}

/** The active freeze that ends last. */
export function activeFreeze<F extends Pick<Freeze, 'from' | 'until'>>(
  freezes: readonly F[],
  now: Date,
): F | undefined {
  return freezes
    .filter(({ from, until }) => Date.parse(from) <= +now && +now < Date.parse(until))
    .toSorted((a, b) => Date.parse(b.until) - Date.parse(a.until))[0];
}

/** Windows that overlap or touch count as one: `changesAt` is the end of all of them. */
export function windowState<W extends Window>(windows: readonly W[], now: Date): WindowState<W> {
  const open = lastToClose(windows, now);
  if (!open) {
    return { open: undefined, changesAt: firstMoment(windows.map((window) => nextOpening(window, now))) };
  }
  const horizon = +now + DAYS_AHEAD * DAY_MS;
  let last = open;
  while (+last.closesAt < horizon) {
    const next = lastToClose(windows, last.closesAt);
    if (!next) return { open: last.window, changesAt: last.closesAt };
    last = next;
  }
  return { open: open.window, changesAt: undefined };
}

interface OpenWindow<W> {
  readonly window: W;
  readonly closesAt: Date;
}

function lastToClose<W extends Window>(windows: readonly W[], now: Date): OpenWindow<W> | undefined {
  return windows
    .flatMap((window) => {
      const occurrence = occurrences(window, now).find((each) => each.opensAt <= now && now < each.closesAt);
      return occurrence ? { window, closesAt: occurrence.closesAt } : [];
    })
    .toSorted((a, b) => +b.closesAt - +a.closesAt)[0];
}

function nextOpening(window: Window, now: Date): Date | undefined {
  return occurrences(window, now).find(({ opensAt }) => opensAt > now)?.opensAt;
}

interface Occurrence {
  readonly opensAt: Date;
  readonly closesAt: Date;
}

const DAY_MS = 86_400_000;
/** Two weeks: where the clock change skips the only occurrence of one week, the next week has one. */
const DAYS_AHEAD = 15;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;

/** From the one that may still be open since yesterday, in order. */
function occurrences({ days, start, end, timeZone }: Window, now: Date): readonly Occurrence[] {
  const offsetAt = offsetsOf(timeZone);
  const today = Math.floor((+now + offsetAt(+now)) / DAY_MS) * DAY_MS;
  const [from, to] = [timeOfDay(start), timeOfDay(end)];
  const found: Occurrence[] = [];
  for (let day = today - DAY_MS; day <= today + DAYS_AHEAD * DAY_MS; day += DAY_MS) {
    const weekday = WEEKDAYS[new Date(day).getUTCDay()];
    if (days && weekday && !days.includes(weekday)) continue;
    const opensAt = instantOf(day + from, offsetAt);
    const closesAt = instantOf(day + to + (to <= from ? DAY_MS : 0), offsetAt);
    if (opensAt < closesAt) found.push({ opensAt: new Date(opensAt), closesAt: new Date(closesAt) });
  }
  return found;
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return (hours * 60 + minutes) * 60_000;
}

type OffsetAt = (instantMs: number) => number;

/** The first instant at which the wall clock shows that time or, where it is skipped, a later one. */
function instantOf(wallMs: number, offsetAt: OffsetAt): number {
  const [before, after] = [offsetAt(wallMs - DAY_MS), offsetAt(wallMs + DAY_MS)];
  const matches = [wallMs - before, wallMs - after].filter(
    (instant) => instant + offsetAt(instant) === wallMs,
  );
  return matches.length > 0 ? Math.min(...matches) : changeBetween(wallMs - after, wallMs - before, offsetAt);
}

/** Bisects to the instant of the clock change. */
function changeBetween(from: number, to: number, offsetAt: OffsetAt): number {
  const before = offsetAt(from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** Offset of local time from UTC in milliseconds. Throws RangeError for an unknown zone, so that nothing starts. */
function offsetsOf(timeZone: string): OffsetAt {
  const format = formatFor(timeZone);
  return (instantMs) => {
    const parts = Object.fromEntries(
      format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const local = Date.UTC(year, month - 1, day, hour, minute, second);
    return local - Math.floor(instantMs / 1000) * 1000;
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric';
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
}
