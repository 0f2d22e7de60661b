/** Parsers of option values: expected before found. */
import { isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';
import { DURATION_FORM, durationSeconds } from '../api/duration.ts';

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

/** `30m`, `8h`, `3d`: in seconds. */
export function parseDuration(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError(`Expected ${DURATION_FORM}, got ${JSON.stringify(text)}.`);
}
