/** Parsers of option values: expected before found. */
import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';

export function createIntegerParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected an integer from ${min} to ${max}, got ${JSON.stringify(text)}.`);
  };
}

export function parseIpAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError(`Expected an IP address, got ${JSON.stringify(text)}.`);
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LONGEST_SECONDS = 366 * 86_400;

/** `30m`, `8h`, `3d`: in seconds. */
export function parseDuration(text: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds > 0 && seconds <= LONGEST_SECONDS) return seconds;
  throw new InvalidArgumentError(
    `Expected a number with s, m, h or d, at most 366d, got ${JSON.stringify(text)}.`,
  );
}
