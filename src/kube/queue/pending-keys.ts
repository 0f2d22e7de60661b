/** The state of each key: waiting, processing, or processing and added again. A key never waits or runs twice at once. */
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
  /** Ends the processing of a key. It waits again if it was added meanwhile. */
  done(key: string, nowMs: number): void;
  /** Drops all waiting keys, and those that were added again during their processing. */
  clear(): void;
}

export function createPendingKeys(): PendingKeys {
  const waiting = createPriorityLanes();
  const since = new Map<string, number>();
  const processing = new Map<string, Priority | 'once'>();
  return {
    get waiting() {
      return waiting.size;
    },
    get processing() {
      return processing.size;
    },
    add,
    take: (nowMs) => {
      const key = waiting.take();
      if (key === undefined) return undefined;
      processing.set(key, 'once');
      const waitedMs = nowMs - (since.get(key) ?? nowMs);
      since.delete(key);
      return { key, waitedMs };
    },
    done: (key, nowMs) => {
      const again = processing.get(key);
      if (!processing.delete(key)) throw new Error(`cannot finish ${key}: it was not taken`);
      if (again !== undefined && again !== 'once') add(key, again, nowMs);
    },
    clear: () => {
      waiting.clear();
      since.clear();
      for (const key of processing.keys()) processing.set(key, 'once');
    },
  };

  function add(key: string, priority: Priority, nowMs: number): void {
    const again = processing.get(key);
    if (again !== undefined) {
      processing.set(key, again === 'once' ? priority : higher(again, priority));
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
