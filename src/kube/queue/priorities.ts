/** Waiting keys, with one FIFO lane for each priority. No lane starves. */

export type Priority = 'urgent' | 'normal' | 'background';

export interface PriorityLanes {
  readonly size: number;
  /** A key waits once. Put again with a higher priority, it moves to the end of that lane; it never moves down. */
  put(key: string, priority: Priority): void;
  take(): string | undefined;
  clear(): void;
}

const ORDER: readonly Priority[] = ['urgent', 'normal', 'background'];

// A waiting lane is skipped at most this often in a row: many events slow an initial list down, but do not stop it.
export const MAX_SKIPS = 7;

interface Lane {
  readonly keys: Set<string>;
  /** Kept between takes: a new iterator would walk over every deleted entry again. */
  cursor: SetIterator<string>;
  skips: number;
}

export function createPriorityLanes(): PriorityLanes {
  const all = ORDER.map(emptyLane);
  const waiting = new Map<string, number>();
  return {
    get size() {
      return waiting.size;
    },
    put,
    take,
    clear: () => {
      waiting.clear();
      all.splice(0, all.length, ...ORDER.map(emptyLane));
    },
  };

  function put(key: string, priority: Priority): void {
    const rank = ORDER.indexOf(priority);
    const present = waiting.get(key);
    if (present !== undefined && present <= rank) return;
    if (present !== undefined) all[present]?.keys.delete(key);
    waiting.set(key, rank);
    all[rank]?.keys.add(key);
  }

  function take(): string | undefined {
    const ready = all.filter(({ keys }) => keys.size > 0);
    // The lowest lane that was skipped often enough, else the highest.
    const lane = ready.findLast(({ skips }) => skips >= MAX_SKIPS) ?? ready[0];
    if (!lane) return undefined;
    for (const other of ready) other.skips = other === lane ? 0 : other.skips + 1;
    const key = first(lane);
    lane.keys.delete(key);
    waiting.delete(key);
    return key;
  }
}

function emptyLane(): Lane {
  const keys = new Set<string>();
  return { keys, cursor: keys.values(), skips: 0 };
}

/** An iterator that reached its end stays there, even when keys are added later. */
function first(lane: Lane): string {
  let next = lane.cursor.next();
  if (next.done === true) {
    lane.cursor = lane.keys.values();
    next = lane.cursor.next();
  }
  if (next.done === true) throw new Error('the lane is empty');
  return next.value;
}
