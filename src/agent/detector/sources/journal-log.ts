/** Follows the journal of systemd by a journalctl that runs beside the agent. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { childEnvironment } from '../../../os/process/child.ts';
import { parseJournalEntry } from './journal-entry.ts';
import { LineSplitter } from './line-splitter.ts';
import type { FollowOptions, LogSource } from './log-source.ts';

export interface JournalLogOptions {
  /** SYSLOG_IDENTIFIER of the lines. */
  readonly identifier: string;
  /** On this machine. Without it the journal of this machine. */
  readonly directory?: string;
  /** Program that prints the journal. */
  readonly program?: string;
}

const MAX_ERROR = 500;

export function createJournalLog(options: JournalLogOptions): LogSource {
  return {
    async follow(follow) {
      // journalctl waits for a directory that is missing, and prints nothing.
      if (options.directory !== undefined) await stat(options.directory);
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
      follow.signal.addEventListener('abort', () =>
        [child.stdout, child.stderr].map((pipe) => pipe.destroy()),
      );
      try {
        await deliverEntries(child.stdout, follow);
      } finally {
        child.kill('SIGKILL');
      }
      const because = await ended;
      if (!follow.signal.aborted) throw new Error(because);
    },
  };
}

export function journalArguments(
  { identifier, directory }: JournalLogOptions,
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

/** Why it ended. */
async function endOf(child: ChildProcessByStdio<null, Readable, Readable>, program: string): Promise<string> {
  let printed = '';
  child.stderr.on('data', (bytes: Buffer) => {
    printed = (printed + bytes.toString('utf8')).slice(-MAX_ERROR);
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  child.once('error', (error) => resolve(`${program} could not be started: ${error.message}`));
  child.once('close', (code) => resolve(`${program} ended with exit code ${code}: ${printed.trim()}`));
  return await promise;
}
