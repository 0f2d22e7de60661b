import { expect, it } from 'vitest';
import { moveFocus } from '../../../src/console/state/move.ts';

/** Rows of 3, 1 and 4 tiles. */
const BOXES = [0, 1, 2]
  .map((left) => ({ top: 0, left }))
  .concat([{ top: 1, left: 0 }])
  .concat([0, 1, 2, 3].map((left) => ({ top: 2, left })));

it.each([
  ['ArrowRight', 0, 1],
  ['ArrowRight', 7, 7],
  ['ArrowLeft', 3, 2],
  ['ArrowLeft', 0, 0],
  ['ArrowDown', 0, 3],
  ['ArrowDown', 1, 5],
  ['ArrowDown', 3, 4],
  ['ArrowDown', 5, 5],
  ['ArrowUp', 6, 2],
  ['ArrowUp', 3, 0],
  ['ArrowUp', 2, 2],
  ['Home', 5, 0],
  ['End', 1, 7],
  ['Enter', 1, undefined],
  ['Tab', 1, undefined],
])('%s leads from tile %i to %s', (key, from, to) => {
  expect(moveFocus({ key, from, count: BOXES.length }, () => BOXES)).toBe(to);
});

it('goes to the closest tile when none is straight below or above', () => {
  const edge = [{ top: 0, left: 9 }, ...[0, 1, 2].map((left) => ({ top: 1, left }))];
  expect(moveFocus({ key: 'ArrowDown', from: 0, count: edge.length }, () => edge)).toBe(3);
  expect(moveFocus({ key: 'ArrowUp', from: 1, count: edge.length }, () => edge)).toBe(0);
});

it('goes nowhere without tiles', () => {
  expect(moveFocus({ key: 'Home', from: 0, count: 0 }, () => [])).toBeUndefined();
});

it.each([
  ['ArrowRight', 0],
  ['End', 0],
  ['Enter', 0],
  ['ArrowDown', 1],
])('%s reads the places of the tiles %i times', (key, times) => {
  let reads = 0;
  const readBoxes = (): typeof BOXES => {
    reads += 1;
    return BOXES;
  };
  moveFocus({ key, from: 0, count: BOXES.length }, readBoxes);
  expect(reads).toBe(times);
});
