import { describe, expect, it } from 'vitest';
import { findBreaker } from '../../../../src/cli/commands/defender/close.ts';
import { ago } from '../../../defender/builders.ts';

const breaker = { state: 'NeedsPerson', since: ago(60), trips: 3 } as const;
const BREAKERS = { 'fleet-default/unhealthy/zone a': breaker, 'gpu/failed/cluster': breaker };

describe('defender close', () => {
  it.each([
    ['unhealthy/zone a', 'fleet-default/unhealthy/zone a'],
    ['fleet-default/unhealthy/zone a', 'fleet-default/unhealthy/zone a'],
    ['gpu/failed/cluster', 'gpu/failed/cluster'],
  ])('finds the breaker %s', (name, id) => {
    expect(findBreaker(BREAKERS, name)).toBe(id);
  });

  it('names the breakers that can be closed, and never an inherited property', () => {
    for (const name of ['failed/cluster', 'toString']) {
      expect(() => findBreaker(BREAKERS, name)).toThrow(`breaker ${name} is not open`);
    }
    expect(() => findBreaker({}, 'x')).toThrow(expect.objectContaining({ hint: 'all breakers are closed' }));
  });
});
