import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurnOrder, type Turn } from '../../../../src/controllers/remedy/execute/order.ts';
import { ask } from '../../../defender/builders.ts';

function turn(machine: string, dueMs: number, rule = 'maintenance'): Turn {
  return { machine, rule, dueMs, because: 'test', ask: ask({ machine }) };
}

function namesOf(turns: readonly Turn[]): string {
  return turns.map(({ machine }) => machine).join(' ');
}

function orderOf(...turns: readonly Turn[]): ReturnType<typeof createTurnOrder> {
  const order = createTurnOrder();
  for (const each of turns) order.enter(each);
  return order;
}

describe('the order of machines that wait for a grant', () => {
  it('R39 has the earliest first, then the name, of the same rule only', () => {
    const order = orderOf(turn('c', 20), turn('b', 10), turn('a', 20), turn('x', 5, 'other'), turn('d', 30));
    expect(namesOf(order.before(turn('d', 30), 0))).toBe('b a c');
    expect(namesOf(order.before(turn('b', 10), 0))).toBe('');
    expect(order.first('maintenance')?.machine).toBe('b');
    expect(order.first('none')).toBeUndefined();
  });

  it('has a machine that may go at any moment before all others', () => {
    const [never, other] = [turn('z', Number.NEGATIVE_INFINITY), turn('y', Number.NEGATIVE_INFINITY)];
    expect(namesOf(orderOf(turn('a', 0), never, other).before(turn('b', 1), 0))).toBe('y z a');
  });

  it('has no machine before itself, also when its event was postponed', () => {
    const order = orderOf(turn('a', 1), turn('b', 2));
    expect(namesOf(order.before(turn('a', 30), 0))).toBe('b');
  });

  it('forgets a machine that leaves, and one that waits for another rule', () => {
    const order = orderOf(turn('a', 1), turn('b', 2));
    order.leave('a');
    order.leave('unknown');
    order.enter(turn('b', 2, 'other'));
    expect(namesOf(order.before(turn('c', 3), 0))).toBe('');
    expect([order.has(turn('b', 2)), order.has(turn('b', 2, 'other'))]).toEqual([false, true]);
  });

  it('passes over a machine that was called and has not taken its turn for ten seconds, until it enters again', () => {
    const order = orderOf(turn('a', 1));
    const isBefore = (nowMs: number): boolean => order.before(turn('b', 2), nowMs).length > 0;
    order.call('a', 1000);
    order.call('unknown', 1000);
    expect([isBefore(1000), isBefore(10_999), isBefore(11_000)]).toEqual([true, true, false]);
    // To be called again does not prolong it.
    order.call('a', 10_000);
    expect(isBefore(11_000)).toBe(false);
    order.enter(turn('a', 1));
    expect(isBefore(11_000)).toBe(true);
  });

  it('names at most twenty, so that no ask reads a whole fleet', () => {
    const order = orderOf(...Array.from({ length: 100 }, (_, index) => turn(`m-${index}`, index)));
    expect(order.before(turn('z', 1000), 0).map(({ dueMs }) => dueMs)).toEqual([...Array(20).keys()]);
  });

  it('lets each machine be first in the end, whatever enters and leaves', () => {
    const dues = fc.uniqueArray(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(dues, (all) => {
        const order = orderOf(...all.map((dueMs) => turn(`m-${dueMs}`, dueMs)));
        const taken = all.map(() => {
          const first = order.first('maintenance');
          order.leave(first?.machine ?? '');
          return first?.dueMs;
        });
        expect(taken).toEqual(all.toSorted((a, b) => a - b));
      }),
    );
  });
});
