/** Keys that are due at a moment. Of several moments for one key the earliest counts. */

export interface DelayHeap {
  readonly size: number;
  /** True when this is the moment that now counts for the key. */
  put(key: string, dueMs: number): boolean;
  remove(key: string): void;
  nextMs(): number | undefined;
  /** All that are due at `nowMs`, in the order of their moments, and forgets them. */
  takeDue(nowMs: number): DueKey[];
  clear(): void;
}

export interface DueKey {
  readonly key: string;
  readonly dueMs: number;
}

// Entries that were overtaken stay in the heap until they come up. More of them than this, and than of the others,
// and they are swept out: a key that is put off again and again must not fill the memory.
const SWEEP_ABOVE = 64;

export function createDelayHeap(): DelayHeap {
  const moments = new Map<string, number>();
  let heap: DueKey[] = [];
  return {
    get size() {
      return moments.size;
    },
    put,
    remove: (key) => void moments.delete(key),
    nextMs: () => {
      dropOvertaken();
      return heap[0]?.dueMs;
    },
    takeDue: due,
    clear: () => {
      moments.clear();
      heap = [];
    },
  };

  function put(key: string, dueMs: number): boolean {
    const present = moments.get(key);
    if (present !== undefined && present <= dueMs) return false;
    moments.set(key, dueMs);
    heap.push({ key, dueMs });
    siftUp(heap, heap.length - 1);
    if (heap.length > 2 * moments.size + SWEEP_ABOVE) sweep();
    return true;
  }

  function due(nowMs: number): DueKey[] {
    const result: DueKey[] = [];
    for (dropOvertaken(); heap[0] && heap[0].dueMs <= nowMs; dropOvertaken()) {
      const next = pop(heap);
      if (!next) break;
      moments.delete(next.key);
      result.push(next);
    }
    return result;
  }

  function dropOvertaken(): void {
    while (heap[0] && moments.get(heap[0].key) !== heap[0].dueMs) pop(heap);
  }

  /** A sorted array is a heap. */
  function sweep(): void {
    heap = [...moments].map(([key, dueMs]) => ({ key, dueMs })).toSorted((a, b) => a.dueMs - b.dueMs);
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
