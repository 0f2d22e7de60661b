import { describe, expect, it } from 'vitest';
import { createPendingKeys } from '../../../src/kube/queue/pending-keys.ts';

describe('createPendingKeys', () => {
  it('reports how long a key waited since it was first added', () => {
    const keys = createPendingKeys();
    keys.add('a', 'normal', 100);
    keys.add('a', 'urgent', 300);
    expect(keys.take(500)).toEqual({ key: 'a', waitedMs: 400 });
    expect([keys.waiting, keys.processing]).toEqual([0, 1]);
  });

  it('adds a key again after its processing, with the highest priority of its adds', () => {
    const keys = createPendingKeys();
    keys.add('a', 'normal', 0);
    keys.take(0);
    keys.add('a', 'background', 10);
    keys.add('a', 'urgent', 20);
    keys.add('b', 'normal', 30);
    expect(keys.waiting).toBe(1);
    keys.done('a', 40);
    expect(keys.take(50)).toEqual({ key: 'a', waitedMs: 10 });
  });

  it('drops waiting keys and those that were added during their processing', () => {
    const keys = createPendingKeys();
    keys.add('a', 'normal', 0);
    keys.take(0);
    keys.add('a', 'normal', 0);
    keys.add('b', 'normal', 0);
    keys.clear();
    keys.done('a', 0);
    expect(keys.take(0)).toBeUndefined();
    expect(() => keys.done('a', 0)).toThrow('cannot finish a');
  });
});
