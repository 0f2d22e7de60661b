/** How long ago a moment was, as kubectl formats it: 42s, 7m, 3h, 12d. And the moment itself. Pure; also runs in the page of the console. */

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

function msOf(since: number | string | undefined): number {
  return typeof since === 'string' ? Date.parse(since) : (since ?? Number.NaN) * 1000;
}
