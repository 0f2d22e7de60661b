/** Follows the journal of systemd by a journalctl that runs beside the agent. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import { childEnvironment } from '../../../os/process/child.ts';
import { parseJournalEntry } from './journal-entry.ts';
import { LineSplitter } from './line-splitter.ts';
import type { FollowOptions, LogSource } from './log-source.ts';

export interface JournalLogOptions {
  /** SYSLOG_IDENTIFIER of the lines. */
  readonly identifier: string;
  /** The folder of the journal on this machine. Without it the journal of this machine is read. */
  readonly directory?: string;
  /** Program that prints the journal. */
  readonly program?: string;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_ERROR = 500;
/** A journal that cannot be watched is read again after this time. */
const POLL_MS = 5000;

export function createJournalLog(options: JournalLogOptions): LogSource {
  const { clock, log, identifier } = options;
  return {
    async follow(follow) {
      // journalctl waits for a directory that is missing, and prints nothing.
      if (options.directory !== undefined) await stat(options.directory);
      let position = follow.position;
      const deliver: FollowOptions['deliver'] = async (batch) => {
        await follow.deliver(batch);
        position = batch.position;
      };
      for (let isPolled = false; !follow.signal.aborted; isPolled = true) {
        const because = await readJournal(options, { ...follow, deliver, ...optional('position', position) });
        if (follow.signal.aborted) return;
        // Where inotify is used up, journalctl prints what there is, and ends well.
        if (!isPolled) log.warn('journal polled', { identifier, because, seconds: POLL_MS / 1000 });
        await clock.sleep(POLL_MS, follow.signal).catch(() => undefined);
      }
    },
  };
}

/** Until journalctl ends well, with what it printed about that. Throws when it failed. */
async function readJournal(options: JournalLogOptions, follow: FollowOptions): Promise<string> {
  const { program = 'journalctl' } = options;
  const child = spawn(program, journalArguments(options, follow), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment(),
    signal: follow.signal,
    killSignal: 'SIGKILL',
  });
  const ended = endOf(child, program);
  child.once('spawn', follow.opened);
  // A process that journalctl left behind could keep the pipes open.
  const closePipes = (): void => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy());
  follow.signal.addEventListener('abort', closePipes);
  try {
    await deliverEntries(child.stdout, follow);
  } finally {
    child.kill('SIGKILL');
  }
  const { because, isWell } = await ended;
  follow.signal.removeEventListener('abort', closePipes);
  if (!follow.signal.aborted && !isWell) throw new Error(because);
  return because;
}

export function journalArguments(
  { identifier, directory }: Pick<JournalLogOptions, 'identifier' | 'directory'>,
  { position, since }: Pick<FollowOptions, 'position' | 'since'>,
): readonly string[] {
  const from =
    position === undefined
      ? `--since=@${(since().getTime() / 1000).toFixed(6)}`
      : `--after-cursor=${position}`;
  return [
    '--follow',
    '--no-tail',
    '--no-pager',
    '--quiet',
    '--all',
    '--output=json',
    '--output-fields=MESSAGE',
    `--identifier=${identifier}`,
    ...(directory === undefined ? [] : [`--directory=${directory}`]),
    from,
  ];
}

async function deliverEntries(output: Readable, { since, deliver, signal }: FollowOptions): Promise<void> {
  const splitter = new LineSplitter();
  try {
    for await (const bytes of output) {
      const entries = splitter.add(bytes as Buffer).flatMap((text) => parseJournalEntry(text) ?? []);
      const last = entries.at(-1);
      const lines = entries.map(({ line }) => line).filter(({ time }) => time >= since());
      if (last) await deliver({ lines, position: last.cursor });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface JournalEnd {
  readonly because: string;
  readonly isWell: boolean;
}

async function endOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  program: string,
): Promise<JournalEnd> {
  let printed = '';
  child.stderr.on('data', (bytes: Buffer) => {
    printed = (printed + bytes.toString('utf8')).slice(-MAX_ERROR);
  });
  const { promise, resolve } = Promise.withResolvers<JournalEnd>();
  child.once('error', (error) =>
    resolve({ because: `${program} could not be started: ${error.message}`, isWell: false }),
  );
  child.once('close', (code) =>
    resolve({ because: `${program} ended with exit code ${code}: ${printed.trim()}`, isWell: code === 0 }),
  );
  return await promise;
}
