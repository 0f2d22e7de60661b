/** Keys with the time when they are due. The earliest of several times for one key applies. */

export interface DelayHeap {
  readonly size: number;
  /** True when this is now the time that applies to the key. */
  put(key: string, dueMs: number): boolean;
  remove(key: string): void;
  nextMs(): number | undefined;
  /** Removes and returns all keys that are due at `nowMs`, in the order of their times. */
  takeDue(nowMs: number): DueKey[];
  clear(): void;
}

export interface DueKey {
  readonly key: string;
  readonly dueMs: number;
}

// Outdated entries stay in the heap until they reach its top. The heap is rebuilt when they outnumber the others and
// this limit, so that a key that is rescheduled often does not fill the memory.
const REBUILD_ABOVE = 64;

export function createDelayHeap(): DelayHeap {
  const times = new Map<string, number>();
  let heap: DueKey[] = [];
  return {
    get size() {
      return times.size;
    },
    put,
    remove: (key) => void times.delete(key),
    nextMs: () => {
      dropOutdated();
      return heap[0]?.dueMs;
    },
    takeDue: due,
    clear: () => {
      times.clear();
      heap = [];
    },
  };

  function put(key: string, dueMs: number): boolean {
    const present = times.get(key);
    if (present !== undefined && present <= dueMs) return false;
    times.set(key, dueMs);
    heap.push({ key, dueMs });
    siftUp(heap, heap.length - 1);
    if (heap.length > 2 * times.size + REBUILD_ABOVE) rebuild();
    return true;
  }

  function due(nowMs: number): DueKey[] {
    const result: DueKey[] = [];
    for (dropOutdated(); heap[0] && heap[0].dueMs <= nowMs; dropOutdated()) {
      const next = pop(heap);
      if (!next) break;
      times.delete(next.key);
      result.push(next);
    }
    return result;
  }

  function dropOutdated(): void {
    while (heap[0] && times.get(heap[0].key) !== heap[0].dueMs) pop(heap);
  }

  /** A sorted array is a heap. */
  function rebuild(): void {
    heap = [...times].map(([key, dueMs]) => ({ key, dueMs })).toSorted((a, b) => a.dueMs - b.dueMs);
  }
}

function pop(heap: DueKey[]): DueKey | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (!top || !last || heap.length === 0) return top;
  heap[0] = last;
  siftDown(heap);
  return top;
}

function siftUp(heap: DueKey[], from: number): void {
  for (let index = from; index > 0; ) {
    const parent = (index - 1) >> 1;
    if (before(heap, parent, index)) return;
    swap(heap, parent, index);
    index = parent;
  }
}

function siftDown(heap: DueKey[]): void {
  for (let index = 0; ; ) {
    const left = 2 * index + 1;
    if (left >= heap.length) return;
    const child = left + 1 < heap.length && !before(heap, left, left + 1) ? left + 1 : left;
    if (before(heap, index, child)) return;
    swap(heap, index, child);
    index = child;
  }
}

function before(heap: readonly DueKey[], a: number, b: number): boolean {
  return (heap[a]?.dueMs ?? Infinity) <= (heap[b]?.dueMs ?? Infinity);
}

function swap(heap: DueKey[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]];
  if (first && second) [heap[a], heap[b]] = [second, first];
}
