import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delays } from '../../src/kube/queue-delays.ts';
import { runs } from '../support/long.ts';

describe('delays', () => {
  it('does what a list that is sorted each time would do', () => {
    const anyStep = fc.record({
      act: fc.constantFrom('put', 'put', 'put', 'put', 'put', 'put', 'due', 'remove'),
      key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n}`),
      ms: fc.nat(100_000),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 200, maxLength: 600 }), (steps) => {
        const real = delays();
        const model = new Map<string, number>();
        for (const { act, key, ms } of steps) {
          if (act === 'put') {
            const earlier = ms < (model.get(key) ?? Infinity);
            expect(real.put(key, ms)).toBe(earlier);
            if (earlier) model.set(key, ms);
          } else if (act === 'remove') {
            real.remove(key);
            model.delete(key);
          } else {
            const nowMs = ms / 50;
            const due = [...model]
              .filter(([, at]) => at <= nowMs)
              .map(([name, dueMs]) => ({ key: name, dueMs }));
            for (const { key: name } of due) model.delete(name);
            expect(byMoment(real.due(nowMs))).toEqual(byMoment(due));
          }
          expect(real.nextMs()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
          expect(real.size).toBe(model.size);
        }
        const rest = real.due(Infinity).map(({ dueMs }) => dueMs);
        expect(rest).toEqual([...model.values()].toSorted((a, b) => a - b));
      }),
      runs(100, 2000),
    );
  });
});

/** Equal moments may come in any order. */
function byMoment(list: readonly { key: string; dueMs: number }[]): { key: string; dueMs: number }[] {
  return list.toSorted((a, b) => a.dueMs - b.dueMs || (a.key < b.key ? -1 : 1));
}
