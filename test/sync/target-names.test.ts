import { expect, it } from 'vitest';
import { listTargets } from '../../src/sync/target-names.ts';

it.each([
  [[], ''],
  [['test'], 'test'],
  [['test', 'test', 'pre', 'prod'], 'test, pre, prod'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('lists the targets %j as %s', (targets, text) => {
  expect(listTargets(targets)).toBe(text);
});
