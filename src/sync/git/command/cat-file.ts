/** Reads raw objects through one `git cat-file --batch` process: one request per line, responses in the same order. */
import type { ChildProcess } from 'node:child_process';
import { killProcessGroup } from '../../../os/process.ts';
import { GitError } from '../errors.ts';
import { OID } from '../http/objects.ts';
import type { ObjectReader, RawObject } from '../transport.ts';
import { missingTool } from './process.ts';

const TYPES = ['commit', 'tree', 'blob', 'tag'] as const;
// The objects are on the local disk, so a slower response will never come.
const RESPONSE_MS = 60_000;
const NEWLINE = 0x0a;

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
  const received: Buffer[] = [];
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
    readLine: async () => {
      const text = await take((buffer) => buffer.indexOf(NEWLINE) + 1);
      return text.toString('utf8').trimEnd();
    },
    readBytes: async (length) =>
      length === 0 ? Buffer.alloc(0) : take((buffer) => (buffer.length < length ? 0 : length)),
    end,
  };

  function fail(error: Error): void {
    failure ??= error;
    notify?.();
  }

  /** Takes as many bytes as `available` returns; waits for more while it returns 0. */
  async function take(available: (buffer: Buffer) => number): Promise<Buffer> {
    for (;;) {
      const all = received.length === 1 && received[0] ? received[0] : Buffer.concat(received);
      const length = available(all);
      received.splice(0, received.length, all.subarray(length));
      if (length > 0) return all.subarray(0, length);
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
