import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDelayHeap, type DelayHeap } from '../../../src/kube/queue/delay-heap.ts';
import { runs } from '../../support/sweep-size.ts';

interface Step {
  readonly act: 'put' | 'due' | 'remove';
  readonly key: string;
  readonly ms: number;
}

describe('createDelayHeap', () => {
  it('behaves like a list that is sorted each time', () => {
    const anyStep: fc.Arbitrary<Step> = fc.record({
      act: fc.constantFrom('put', 'put', 'put', 'put', 'put', 'put', 'due', 'remove'),
      key: fc.integer({ min: 0, max: 12 }).map((n) => `k${n}`),
      ms: fc.nat(100_000),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 200, maxLength: 600 }), (steps) => {
        const real = createDelayHeap();
        const model = new Map<string, number>();
        for (const step of steps) {
          expect(inReal(real, step)).toEqual(inModel(model, step));
          expect(real.nextMs()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
          expect(real.size).toBe(model.size);
        }
        const rest = real.takeDue(Infinity).map(({ dueMs }) => dueMs);
        expect(rest).toEqual([...model.values()].toSorted((a, b) => a - b));
      }),
      runs(100, 2000),
    );
  });
});

function inReal(real: DelayHeap, { act, key, ms }: Step): unknown {
  if (act === 'put') return real.put(key, ms);
  if (act === 'remove') return real.remove(key);
  return byTime(real.takeDue(ms / 50));
}

function inModel(model: Map<string, number>, { act, key, ms }: Step): unknown {
  if (act === 'put') {
    const earlier = ms < (model.get(key) ?? Infinity);
    if (earlier) model.set(key, ms);
    return earlier;
  }
  const removed =
    act === 'remove' ? [key] : [...model].filter(([, at]) => at <= ms / 50).map(([name]) => name);
  const due = removed.map((name) => ({ key: name, dueMs: model.get(name) ?? 0 }));
  for (const name of removed) model.delete(name);
  return act === 'remove' ? undefined : byTime(due);
}

/** Equal times may come in any order. */
function byTime(list: readonly { key: string; dueMs: number }[]): { key: string; dueMs: number }[] {
  return list.toSorted((a, b) => a.dueMs - b.dueMs || (a.key < b.key ? -1 : 1));
}
