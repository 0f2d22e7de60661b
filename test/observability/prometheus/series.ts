/** Series of promtool, with a sample every five minutes. */
import type { DurationIndicator, StateIndicator } from '../../../src/observability/slos/slo.ts';

export const SAMPLE_MINUTES = 5;

type Part = readonly [minutes: number, badRatio: number];
/** Of each sample: enough that half a thousandth is a whole number. */
const EVENTS = 10_000;

export function stateSeries(
  { gauge, label, good, bad }: StateIndicator,
  parts: readonly Part[],
): Readonly<Record<string, string>> {
  const name = (state: string): string => `kubenode_${gauge}{${label}="${state}"}`;
  return {
    [name(good)]: constants(parts, (badRatio) => EVENTS * (1 - badRatio)),
    [name(bad)]: constants(parts, (badRatio) => EVENTS * badRatio),
  };
}

function constants(parts: readonly Part[], valueOf: (badRatio: number) => number): string {
  return parts.map(([minutes, bad]) => `${round(valueOf(bad))}x${samples(minutes) - 1}`).join(' ');
}

export function countSeries(
  { histogram }: DurationIndicator,
  parts: readonly Part[],
  events = EVENTS,
): Readonly<Record<string, string>> {
  return { [`kubenode_${histogram}_count`]: rising(parts, () => events) };
}

export function bucketSeries(
  { histogram, limitSeconds }: DurationIndicator,
  parts: readonly Part[],
  events = EVENTS,
): Readonly<Record<string, string>> {
  const name = `kubenode_${histogram}_bucket{le="${limitSeconds}"}`;
  return { [name]: rising(parts, (badRatio) => events * (1 - badRatio)) };
}

/** A counter that goes on where the part before it ended. */
function rising(parts: readonly Part[], stepOf: (badRatio: number) => number): string {
  let value = 0;
  return parts
    .map(([minutes, bad]) => {
      const step = round(stepOf(bad));
      const text = `${value}+${step}x${samples(minutes) - 1}`;
      value += step * samples(minutes);
      return text;
    })
    .join(' ');
}

function samples(minutes: number): number {
  return minutes / SAMPLE_MINUTES;
}

function round(value: number): number {
  return Math.round(value);
}
