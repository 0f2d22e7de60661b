import { expect, it } from 'vitest';
import { hubScope, scopeOfUnit } from '../../src/sync/hub-scope.ts';

it.each([
  ['', 'web'],
  ['fleet.', `${hubScope('fleet')}clusters`],
])('tells the scope %j of a unit by its name', (scope, unit) => {
  expect(scopeOfUnit(unit)).toBe(scope);
});
