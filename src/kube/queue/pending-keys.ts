/** Where each key is: waiting for a pass, in a pass, or in a pass and wanted again. Never waiting twice, never in two passes. */
import { createPriorityLanes, type Priority } from './priorities.ts';

export interface TakenKey {
  readonly key: string;
  readonly waitedMs: number;
}

export interface PendingKeys {
  readonly waiting: number;
  readonly processing: number;
  add(key: string, priority: Priority, nowMs: number): void;
  take(nowMs: number): TakenKey | undefined;
  /** The pass over it ended. If it was added meanwhile it waits again. */
  done(key: string, nowMs: number): void;
  /** Forgets all that waits, also what is wanted again after its pass. */
  clear(): void;
}

export function createPendingKeys(): PendingKeys {
  const waiting = createPriorityLanes();
  const since = new Map<string, number>();
  const passing = new Map<string, Priority | 'not again'>();
  return {
    get waiting() {
      return waiting.size;
    },
    get processing() {
      return passing.size;
    },
    add,
    take: (nowMs) => {
      const key = waiting.take();
      if (key === undefined) return undefined;
      passing.set(key, 'not again');
      const waitedMs = nowMs - (since.get(key) ?? nowMs);
      since.delete(key);
      return { key, waitedMs };
    },
    done: (key, nowMs) => {
      const again = passing.get(key);
      if (!passing.delete(key)) throw new Error(`${key} is not in a pass, so it cannot be done`);
      if (again !== undefined && again !== 'not again') add(key, again, nowMs);
    },
    clear: () => {
      waiting.clear();
      since.clear();
      for (const key of passing.keys()) passing.set(key, 'not again');
    },
  };

  function add(key: string, priority: Priority, nowMs: number): void {
    const again = passing.get(key);
    if (again !== undefined) {
      passing.set(key, again === 'not again' ? priority : higher(again, priority));
      return;
    }
    waiting.put(key, priority);
    if (!since.has(key)) since.set(key, nowMs);
  }
}

function higher(a: Priority, b: Priority): Priority {
  if (a === 'urgent' || b === 'urgent') return 'urgent';
  return a === 'normal' || b === 'normal' ? 'normal' : 'background';
}
