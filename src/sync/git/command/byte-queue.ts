/**
 * Bytes of a stream, in the order of their arrival. Chunks are joined once, when all bytes of a part are there: joining them with each
 * chunk would take minutes for an object of some hundred megabytes.
 */
export interface ByteQueue {
  push(chunk: Buffer): void;
  /** Takes a line without its newline. Undefined while its end has not arrived. */
  takeLine(): string | undefined;
  /** Takes so many bytes. Undefined while fewer have arrived. */
  take(length: number): Buffer | undefined;
}

const NEWLINE = 0x0a;

export function createByteQueue(): ByteQueue {
  let chunks: Buffer[] = [];
  let available = 0;
  return { push, takeLine, take };

  function push(chunk: Buffer): void {
    chunks.push(chunk);
    available += chunk.length;
  }

  function takeLine(): string | undefined {
    let before = 0;
    for (const chunk of chunks) {
      const index = chunk.indexOf(NEWLINE);
      if (index >= 0) return take(before + index + 1)?.toString('utf8', 0, before + index);
      before += chunk.length;
    }
    return undefined;
  }

  function take(length: number): Buffer | undefined {
    if (available < length) return undefined;
    const [first] = chunks;
    const all = first && first.length >= length ? first : Buffer.concat(chunks);
    const rest = all === first ? chunks.slice(1) : [];
    chunks = all.length > length ? [all.subarray(length), ...rest] : rest;
    available -= length;
    return all.subarray(0, length);
  }
}
