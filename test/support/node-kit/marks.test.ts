import { expect, it } from 'vitest';
import { isStale, nameOf, nextNumber, prefixOf, runPid } from './marks.ts';

const LARGEST_PID = 4_194_304;

it('makes names that the kernel takes for an interface, for every process there can be', () => {
  expect(`${prefixOf(LARGEST_PID)}999`.length).toBeLessThanOrEqual(15);
  expect(nameOf(7)).toBe(`${prefixOf(runPid())}7`);
});

it('takes for stale what a process made that is gone, and nothing else', () => {
  expect(isStale(`${prefixOf(LARGEST_PID + 1)}1`)).toBe(true);
  expect([nameOf(1), 'docker0', 'knot0', 'kn', 'eth0'].filter(isStale)).toEqual([]);
});

it('numbers no two things alike', () => {
  const numbers = Array.from({ length: 500 }, nextNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
});
