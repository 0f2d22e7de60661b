/**
 * Frees the buffers of what was sent before the engine does it by itself: their wrappers are so small that it collects them only when the
 * buffers of all connections together have 64 MiB, and the process keeps most of that memory for good (bench/import.ts).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'minor' }) => void;

/** A part is in memory about three times: as it was read, as packets, and encrypted. A collection of young objects takes about 1 ms. */
const BYTES_PER_COLLECTION = 4 * 1024 ** 2;

export interface SentBytes {
  add(bytes: number): void;
}

export function createSentBytes(collect = loadCollect()): SentBytes {
  let sent = 0;
  return {
    add(bytes) {
      sent += bytes;
      if (sent < BYTES_PER_COLLECTION) return;
      sent = 0;
      collect({ type: 'minor' });
    },
  };
}

/** The engine makes the function for contexts that are created after the flag is set. */
function loadCollect(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
