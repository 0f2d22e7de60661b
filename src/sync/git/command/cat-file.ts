/** Reads raw objects through one `git cat-file --batch`: a question a line, answers in the same order. */
import type { ChildProcess } from 'node:child_process';
import { killProcessGroup } from '../../../os/process-group.ts';
import { GitError } from '../errors.ts';
import { OID } from '../http/objects.ts';
import type { ObjectReader, RawObject } from '../transport.ts';
import { missingTool } from './process.ts';

const TYPES = ['commit', 'tree', 'blob', 'tag'] as const;
// An answer that does not come within this time never will: the object lies on this machine.
const ANSWER_MS = 60_000;
const NEWLINE = 0x0a;

export function createCatFileReader(start: () => ChildProcess): ObjectReader {
  let conversation: Conversation | undefined;
  return { read, close: async () => conversation?.end() };

  async function read(oid: string): Promise<RawObject | undefined> {
    if (!OID.test(oid)) throw new GitError('NotFoundObject', `${JSON.stringify(oid)} is no object name`);
    conversation ??= converse(start());
    conversation.say(`${oid}\n`);
    const [, word, size] = (await conversation.line()).split(' ');
    const type = TYPES.find((known) => known === word);
    if (!type) return undefined;
    const content = await conversation.bytes(Number(size));
    await conversation.line();
    return { type, content };
  }
}

interface Conversation {
  say(text: string): void;
  line(): Promise<string>;
  bytes(length: number): Promise<Buffer>;
  end(): Promise<void>;
}

function converse(child: ChildProcess): Conversation {
  const heard: Buffer[] = [];
  let failure: Error | undefined;
  let wake: (() => void) | undefined;

  child.stdout?.on('data', (piece: Buffer) => {
    heard.push(piece);
    wake?.();
  });
  child.stderr?.resume();
  child.stdin?.on('error', fail);
  child.on('error', (error) => fail(missingTool(error)));
  child.on('close', () => fail(new GitError('Corrupt', 'git cat-file ended early')));

  return {
    say: (text) => void child.stdin?.write(text),
    line: async () => {
      const text = await take((buffer) => buffer.indexOf(NEWLINE) + 1);
      return text.toString('utf8').trimEnd();
    },
    bytes: async (length) =>
      length === 0 ? Buffer.alloc(0) : take((buffer) => (buffer.length < length ? 0 : length)),
    end,
  };

  function fail(error: Error): void {
    failure ??= error;
    wake?.();
  }

  /** As many bytes as `enough` says; 0 means not yet. */
  async function take(enough: (buffer: Buffer) => number): Promise<Buffer> {
    for (;;) {
      const all = heard.length === 1 && heard[0] ? heard[0] : Buffer.concat(heard);
      const length = enough(all);
      heard.splice(0, heard.length, all.subarray(length));
      if (length > 0) return all.subarray(0, length);
      if (failure) throw failure;
      await more();
    }
  }

  function more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const silent = (): void => reject(new GitError('Timeout', 'git cat-file does not answer'));
      const timer = setTimeout(silent, ANSWER_MS);
      wake = () => {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      };
    });
  }

  async function end(): Promise<void> {
    const running = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
    if (!running) return;
    const gone = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    killProcessGroup(child);
    await gone;
  }
}
