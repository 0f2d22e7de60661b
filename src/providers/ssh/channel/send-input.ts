/**
 * Sends a stream of bytes to a script on a host, as fast as the host reads it. Only a few parts of it are in memory at a time: the library
 * itself takes as much as the window of the channel has room for, which is 2 MiB for each of many hosts.
 */
import type { Channel } from 'ssh2';
import type { StartedCommand } from './connection.ts';
import { createSentBytes, type SentBytes } from './sent-bytes.ts';

/** Counts for all connections of this process. */
let all: SentBytes | undefined;

/** Resolves when all is sent, or the script has ended before. `progress` is called for each part that was taken. */
export async function sendInput(
  { channel, drained }: Pick<StartedCommand, 'channel' | 'drained'>,
  input: AsyncIterable<Uint8Array>,
  progress: () => void,
): Promise<void> {
  const ended = new AbortController();
  channel.once('close', () => ended.abort());
  for await (const part of input) {
    if (ended.signal.aborted || !channel.writable) return;
    await write(channel, part);
    await drained(ended.signal).catch(() => undefined);
    all ??= createSentBytes();
    all.add(part.length);
    progress();
  }
  if (channel.writable) channel.end();
}

/** Resolves when the library has sent the part, for which the window of the host must have room. */
function write(channel: Channel, part: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      channel.off('close', done);
      resolve();
    };
    channel.once('close', done);
    channel.write(part, done);
  });
}
