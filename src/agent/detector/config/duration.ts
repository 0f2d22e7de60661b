/** Durations as Go writes them: 5m, 1h30m, 300ms. Pure. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(?<number>\d+\.?\d*|\.\d+)(?<unit>ns|us|µs|μs|ms|s|m|h)/gu;
const WHOLE = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/u;

/** Returns the duration in milliseconds. Undefined when the text is not a duration, or below zero. */
export function parseGoDuration(text: string): number | undefined {
  const plain = text.replace(/^\+/, '');
  if (plain === '0') return 0;
  if (!WHOLE.test(plain)) return undefined;
  const parts = Array.from(plain.matchAll(PART), ({ groups }) => groups ?? {});
  return parts.reduce((sum, { number, unit = '' }) => sum + Number(number) * (UNIT_MS[unit] ?? 0), 0);
}
