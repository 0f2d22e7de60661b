import { expect, it } from 'vitest';
import { namesOf } from '../../../../src/controllers/hosting/plan/names.ts';

it('namesOf lists twenty names and counts the others', () => {
  const names = Array.from({ length: 23 }, (_, index) => `m-${index}`);
  expect(namesOf(names.slice(0, 2))).toBe('m-0, m-1');
  expect(namesOf(names)).toMatch(/, m-19 and 3 more$/);
});
