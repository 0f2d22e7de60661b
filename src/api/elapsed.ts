/** How long ago a moment was, as kubectl formats it: 42s, 7m, 3h, 12d. The moment itself, and durations. Pure; also runs in the page of the console. */

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
];

/** `since`: a time, or seconds of the epoch. Empty without a time. */
export function elapsedText(since: number | string | undefined, nowMs: number): string {
  const ms = msOf(since);
  if (Number.isNaN(ms)) return '';
  const seconds = Math.max(0, Math.floor((nowMs - ms) / 1000));
  const [length, unit] = UNITS.find(([each]) => seconds >= 2 * each) ?? [1, 's'];
  return `${Math.floor(seconds / length)}${unit}`;
}

/** The moment itself, in UTC. Empty without a time. */
export function momentText(since: number | string | undefined): string {
  const ms = msOf(since);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Formats a duration as `90 s`, `25 min` or `3 h 20 min`. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  const [hours, left] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return `${minutes} min`;
  return left === 0 ? `${hours} h` : `${hours} h ${left} min`;
}

function msOf(since: number | string | undefined): number {
  return typeof since === 'string' ? Date.parse(since) : (since ?? Number.NaN) * 1000;
}
