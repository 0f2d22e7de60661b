import { describe, expect, it } from 'vitest';
import { type DiskTrend, followDisk } from '../../../src/agent/facts/disk.ts';
import { NOW } from '../../support/virtual-clock.ts';

/** Minute and percentage of each measurement, and the minute since when it rises at the end. */
const ROWS: readonly (readonly [string, readonly (readonly [number, number])[], number | undefined])[] = [
  ['is not known to rise after one measurement', [[0, 83]], undefined],
  [
    'does not rise while it stays',
    [
      [0, 83],
      [1, 83],
    ],
    undefined,
  ],
  [
    'rises since it was first higher',
    [
      [0, 80],
      [1, 81],
      [2, 82],
      [3, 83],
    ],
    1,
  ],
  [
    'still rises while it stays for less than ten minutes',
    [
      [0, 80],
      [1, 81],
      [10, 81],
    ],
    1,
  ],
  [
    'does not rise after it stayed for ten minutes',
    [
      [0, 80],
      [1, 81],
      [11, 81],
    ],
    undefined,
  ],
  [
    'counts the ten minutes from the last time that it got fuller',
    [
      [0, 80],
      [1, 81],
      [6, 81],
      [11, 81],
    ],
    undefined,
  ],
  [
    'rises since its first rise, however long ago that is',
    [
      [0, 80],
      [1, 81],
      [9, 82],
      [17, 83],
    ],
    1,
  ],
  [
    'does not rise after it fell',
    [
      [0, 80],
      [1, 81],
      [2, 80],
    ],
    undefined,
  ],
  [
    'rises since the last time that it was lower',
    [
      [0, 80],
      [1, 81],
      [2, 79],
      [3, 80],
      [4, 85],
    ],
    3,
  ],
  [
    'rises since it got higher after it stayed for long',
    [
      [0, 80],
      [1, 81],
      [20, 81],
      [21, 82],
    ],
    21,
  ],
];

describe('a file system', () => {
  it.each(ROWS)('%s', (_, measurements, sinceMinute) => {
    const last = measurements.reduce<DiskTrend | undefined>(
      (before, [minute, percent]) => followDisk(before, 'imagefs', usageOf(percent), at(minute)),
      undefined,
    );
    const rises = sinceMinute === undefined ? {} : { risingSince: at(sinceMinute).toISOString() };
    const usedPercent = measurements.at(-1)?.[1];
    expect(last?.fact).toEqual({ filesystem: 'imagefs', usedPercent, inodesUsedPercent: 25, ...rises });
  });
});

function at(minute: number): Date {
  return new Date(NOW.getTime() + minute * 60_000);
}

function usageOf(percent: number): Parameters<typeof followDisk>[2] {
  return { usedBytes: percent, freeBytes: 100 - percent, usedInodes: 1, freeInodes: 3 };
}
