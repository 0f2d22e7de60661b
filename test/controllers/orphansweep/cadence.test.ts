import { describe, expect, it } from 'vitest';
import { isSweepDue, pauseSeconds } from '../../../src/controllers/orphansweep/cadence.ts';

const SWEPT = 1_000_000;

describe('the cadence of sweeps', () => {
  it.each<[string, number | undefined, number, boolean]>([
    ['sweeps at once in a new process', undefined, 0, true],
    ['does not sweep again within ten minutes', SWEPT, SWEPT + 599_999, false],
    ['sweeps ten minutes after the last sweep', SWEPT, SWEPT + 600_000, true],
  ])('MAC-36 by its schedule it %s', (_, sweptMs, nowMs, expected) => {
    expect(isSweepDue({ sweptMs }, nowMs)).toBe(expected);
  });

  it.each<[string, number, number, number]>([
    ['waits for the next sweep', 0, SWEPT, 600],
    ['keeps its time when the end of a deletion was awaited in between', 0, SWEPT + 90_000, 510],
    ['asks after half a minute while a deletion is in progress', 1, SWEPT, 30],
    ['asks earlier when the next sweep is due before', 1, SWEPT + 580_000, 20],
    ['sweeps at once when a sweep took longer than ten minutes', 0, SWEPT + 700_000, 0],
  ])('MAC-36 when it is reconciled it %s', (_, begun, nowMs, expected) => {
    expect(pauseSeconds({ sweptMs: SWEPT, begun }, nowMs)).toBe(expected);
  });
});
