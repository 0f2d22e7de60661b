/** The keys that wait for a pass: one lane a priority, first come first served within a lane, nobody left behind. */

export type Priority = 'urgent' | 'normal' | 'background';

export interface PriorityLanes {
  readonly size: number;
  /** A key waits once. Said again with a higher priority, it moves to the end of that lane; it never moves down. */
  put(key: string, priority: Priority): void;
  take(): string | undefined;
  clear(): void;
}

const ORDER: readonly Priority[] = ['urgent', 'normal', 'background'];

// A lane that waits is passed over at most this often in a row: a storm of events slows a first sync down, and
// does not stop it.
export const MAX_PASSED_OVER = 7;

interface Lane {
  readonly keys: Set<string>;
  /** Lives on between takes: a new one would walk over all that was taken before. */
  cursor: SetIterator<string>;
  passedOver: number;
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
    // The lowest one that has waited long enough, else the highest.
    const lane = ready.findLast(({ passedOver }) => passedOver >= MAX_PASSED_OVER) ?? ready[0];
    if (!lane) return undefined;
    for (const other of ready) other.passedOver = other === lane ? 0 : other.passedOver + 1;
    const key = first(lane);
    lane.keys.delete(key);
    waiting.delete(key);
    return key;
  }
}

function emptyLane(): Lane {
  const keys = new Set<string>();
  return { keys, cursor: keys.values(), passedOver: 0 };
}

/** An iterator that has once come to the end stays there, also when keys are added later. */
function first(lane: Lane): string {
  let next = lane.cursor.next();
  if (next.done === true) {
    lane.cursor = lane.keys.values();
    next = lane.cursor.next();
  }
  if (next.done === true) throw new Error('a lane without keys was asked for one');
  return next.value;
}
