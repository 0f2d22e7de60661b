/** Follows a file to which lines are appended, also after it was rotated or emptied. */
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../../../os/clock.ts';
import { systemCode } from '../../../os/errors.ts';
import type { LineFormat } from '../config/monitor.ts';
import type { LogLine } from '../match/log-buffer.ts';
import { LineSplitter } from './line-splitter.ts';
import type { FollowOptions, LogSource } from './log-source.ts';

export interface FileLogOptions {
  /** The path of the file on this machine. */
  readonly path: string;
  readonly format: LineFormat;
  /** The texts to skip: lines that contain one of them, in the message or before it, do not count. */
  readonly skipList: readonly string[];
  readonly clock: Clock;
}

const POLL_MS = 500;
const CHUNK_BYTES = 64 * 1024;
/**
 * The number of bytes at the end of a file that are read when it is read for the first time: more would take long, and is rarely of the
 * last minutes.
 */
const MAX_FIRST_BYTES = 16 * 1024 ** 2;

export function createFileLog(options: FileLogOptions): LogSource {
  return {
    async follow(follow) {
      const file = await FollowedFile.open(options.path, follow.position);
      try {
        while (!follow.signal.aborted) {
          const texts = await file.readLines();
          follow.opened();
          if (texts) await deliverLines(file, texts, options, follow);
          else if (!(await file.reopenIfReplaced())) {
            await options.clock.sleep(POLL_MS, follow.signal).catch(() => undefined);
          }
        }
      } finally {
        await file.close();
      }
    },
  };
}

async function deliverLines(
  file: FollowedFile,
  texts: readonly string[],
  { format, skipList, clock }: FileLogOptions,
  { since, deliver }: FollowOptions,
): Promise<void> {
  const counting = texts.filter((text) => !skipList.some((skipped) => text.includes(skipped)));
  const lines = counting.flatMap((text) => parseLine(text, format, clock.now()) ?? []);
  await deliver({ lines: lines.filter(({ time }) => time >= since()), position: file.position() });
}

/** Parses a line; undefined for a line without a time or a message. Of several groups of a pattern the last one is meant. */
export function parseLine(text: string, format: LineFormat, now: Date): LogLine | undefined {
  const timestamp = lastGroup(format.timestamp, text);
  const message = lastGroup(format.message, text);
  const time = timestamp === undefined ? undefined : format.layout.parse(timestamp, now);
  return time && message !== undefined ? { time, message } : undefined;
}

function lastGroup(pattern: LineFormat['message'], text: string): string | undefined {
  const found = pattern.search(text);
  if (typeof found === 'string') return undefined;
  const [start = -1, end = -1] = found.slice(-2);
  return start < 0 ? '' : text.slice(start, end);
}

class FollowedFile {
  readonly #path: string;
  #handle: FileHandle;
  #inode: string;
  #offset: number;
  #splitter = new LineSplitter();
  /** The file that has the name now, once the rest of this one was asked for. */
  #replacedBy: string | undefined;

  private constructor(
    path: string,
    handle: FileHandle,
    at: { readonly inode: string; readonly offset: number },
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#inode = at.inode;
    this.#offset = at.offset;
  }

  static async open(path: string, position?: string): Promise<FollowedFile> {
    // Without O_NONBLOCK, opening a named pipe would block a thread of the agent until a program writes to it.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { ino, size } = await handle.stat();
    const [inode = '', offset = ''] = position?.split(':') ?? [];
    const isSame = inode === String(ino) && Number(offset) <= size;
    const first = position === undefined ? Math.max(0, size - MAX_FIRST_BYTES) : 0;
    return new FollowedFile(path, handle, { inode: String(ino), offset: isSame ? Number(offset) : first });
  }

  /** Returns the position after the last whole line. */
  position(): string {
    return `${this.#inode}:${this.#offset - this.#splitter.pendingBytes}`;
  }

  /** Reads the next lines; undefined at the end of the file. */
  async readLines(): Promise<readonly string[] | undefined> {
    const { buffer, bytesRead } = await this.#handle.read(
      Buffer.alloc(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      this.#offset,
    );
    if (bytesRead === 0) return undefined;
    this.#offset += bytesRead;
    return this.#splitter.add(buffer.subarray(0, bytesRead));
  }

  /**
   * Opens the file again if, at its end, another file has its name now, or it was emptied. Returns whether there is more to read. A file
   * that was replaced is read to its end once more: lines may have come between the last read and its rotation.
   */
  async reopenIfReplaced(): Promise<boolean> {
    const found = await this.#stat();
    if (!found) return false;
    const isEmptied = found.inode === this.#inode && found.size < this.#offset;
    if (found.inode === this.#inode && !isEmptied) return false;
    const hasRest = !isEmptied && this.#replacedBy !== found.inode;
    this.#replacedBy = hasRest ? found.inode : undefined;
    if (hasRest) return true;
    const next = await FollowedFile.open(this.#path, `${found.inode}:0`);
    await this.#handle.close();
    this.#handle = next.#handle;
    this.#inode = next.#inode;
    this.#offset = 0;
    this.#splitter = new LineSplitter();
    return true;
  }

  /** Returns the file with this name now; undefined between the two steps of a rotation. */
  async #stat(): Promise<{ readonly inode: string; readonly size: number } | undefined> {
    try {
      const { ino, size } = await stat(this.#path);
      return { inode: String(ino), size };
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
