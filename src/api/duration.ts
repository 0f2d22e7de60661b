/** Parses durations as people write them: `30m`, `8h`, `3d`. No npm package here. */

export type DurationText = `${number}${'s' | 'm' | 'h' | 'd'}`;

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LONGEST_SECONDS = 366 * 86_400;

/** The form that `durationSeconds` accepts, for messages. */
export const DURATION_FORM = 'a number with s, m, h or d, at most 366d';

/** Returns the duration in seconds; undefined for anything but an integer from 1 with one unit, or for more than 366 days. */
export function durationSeconds(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  return seconds > 0 && seconds <= LONGEST_SECONDS ? seconds : undefined;
}
