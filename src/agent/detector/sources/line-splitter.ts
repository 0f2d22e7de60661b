/** Cuts a stream of bytes into lines. */

/** The maximum length of a line in bytes: what has no line break for so long is not a line of a log. */
const MAX_PENDING = 256 * 1024;

export class LineSplitter {
  #pending = Buffer.alloc(0);

  /** The number of bytes that are not in a line yet. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  add(bytes: Buffer): readonly string[] {
    const all = Buffer.concat([this.#pending, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    this.#pending = all.subarray(end);
    if (this.#pending.length > MAX_PENDING) this.#pending = Buffer.alloc(0);
    return end === 0 ? [] : all.toString('utf8', 0, end - 1).split('\n');
  }
}
