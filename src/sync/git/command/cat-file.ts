/** Reads raw objects through one `git cat-file --batch` process: one request per line, responses in the same order. */
import type { ChildProcess } from 'node:child_process';
import { killProcessGroup } from '../../../os/process/child.ts';
import { GitError } from '../errors.ts';
import { OID } from '../http/objects.ts';
import { checkObjectSize } from '../object-limits.ts';
import type { ObjectReader, RawObject } from '../transport.ts';
import { createByteQueue } from './byte-queue.ts';
import { missingTool } from './process.ts';

const TYPES = ['commit', 'tree', 'blob', 'tag'] as const;
// The objects are on the local disk, so a slower response will never come.
const RESPONSE_MS = 60_000;

export function createCatFileReader(start: () => ChildProcess): ObjectReader {
  let batch: BatchProcess | undefined;
  return { read, close: async () => batch?.end() };

  async function read(oid: string): Promise<RawObject | undefined> {
    if (!OID.test(oid)) {
      throw new GitError('NotFoundObject', `${JSON.stringify(oid)} is not a valid object id`);
    }
    batch ??= createBatchProcess(start());
    batch.write(`${oid}\n`);
    const [, word, size] = (await batch.readLine()).split(' ');
    const type = TYPES.find((known) => known === word);
    if (!type) return undefined;
    try {
      checkObjectSize(`object ${oid}`, type, Number(size));
    } catch (error) {
      // git is already writing the content, which is not read.
      await batch.end();
      batch = undefined;
      throw error;
    }
    const content = await batch.readBytes(Number(size));
    await batch.readLine();
    return { type, content };
  }
}

interface BatchProcess {
  write(text: string): void;
  readLine(): Promise<string>;
  readBytes(length: number): Promise<Buffer>;
  end(): Promise<void>;
}

function createBatchProcess(child: ChildProcess): BatchProcess {
  const received = createByteQueue();
  let failure: Error | undefined;
  let notify: (() => void) | undefined;

  child.stdout?.on('data', (chunk: Buffer) => {
    received.push(chunk);
    notify?.();
  });
  child.stderr?.resume();
  child.stdin?.on('error', fail);
  child.on('error', (error) => fail(missingTool(error)));
  child.on('close', () => fail(new GitError('Corrupt', 'git cat-file ended early')));

  return {
    write: (text) => void child.stdin?.write(text),
    readLine: () => take(() => received.takeLine()),
    readBytes: (length) => take(() => received.take(length)),
    end,
  };

  function fail(error: Error): void {
    failure ??= error;
    notify?.();
  }

  /** Waits for more while `available` returns nothing. */
  async function take<T>(available: () => T | undefined): Promise<T> {
    for (;;) {
      const taken = available();
      if (taken !== undefined) return taken;
      if (failure) throw failure;
      await waitForMore();
    }
  }

  function waitForMore(): Promise<void> {
    return new Promise((resolve, reject) => {
      const onTimeout = (): void => reject(new GitError('Timeout', 'git cat-file does not respond'));
      const timer = setTimeout(onTimeout, RESPONSE_MS);
      notify = () => {
        clearTimeout(timer);
        notify = undefined;
        resolve();
      };
    });
  }

  async function end(): Promise<void> {
    const running = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
    if (!running) return;
    const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    killProcessGroup(child);
    await closed;
  }
}
