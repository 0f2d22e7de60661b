/** Sizes as in our kinds: bytes, or a number with Ki, Mi, Gi or Ti. Pure. */

const UNITS: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4 };

/** NaN when the text is not a size. */
export function parseSize(text: string): number {
  const { digits = '', unit } = /^(?<digits>[1-9]\d*)(?<unit>[KMGT]i)?$/.exec(text)?.groups ?? {};
  if (digits === '') return Number.NaN;
  return Number(digits) * 1024 ** (unit === undefined ? 0 : (UNITS[unit] ?? 0));
}
