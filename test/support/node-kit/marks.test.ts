import { expect, it } from 'vitest';
import { isOwn, isStale, nameOf, nextNumber, prefixOf, runPid } from './marks.ts';

const LARGEST_PID = 4_194_304;

it('creates names that are valid for an interface, for every process id', () => {
  expect(`${prefixOf(LARGEST_PID)}999`.length).toBeLessThanOrEqual(15);
  expect(nameOf(7)).toBe(`${prefixOf(runPid())}7`);
});

it('treats as stale only the names of processes that have ended', () => {
  expect(isStale(`${prefixOf(LARGEST_PID + 1)}1`)).toBe(true);
  expect([nameOf(1), 'docker0', 'knot0', 'kn', 'eth0'].filter(isStale)).toEqual([]);
});

it('never returns a number twice', () => {
  const numbers = Array.from({ length: 100 }, nextNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every((number) => isOwn(nameOf(number)))).toBe(true);
  expect([nameOf(Math.min(...numbers) + 100), 'eth0', `${prefixOf(1)}1`].filter(isOwn)).toEqual([]);
});
