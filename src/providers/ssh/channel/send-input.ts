/** Sends a stream of bytes to a script on a host, as fast as the host reads it: no more than the window of the channel is in memory. */
import { once } from 'node:events';
import type { Channel } from 'ssh2';

/** Resolves when all is sent, or the script has ended before. `progress` is called for each part that the host took. */
export async function sendInput(
  channel: Channel,
  input: AsyncIterable<Uint8Array>,
  progress: () => void,
): Promise<void> {
  const ended = new AbortController();
  channel.once('close', () => ended.abort());
  for await (const part of input) {
    if (ended.signal.aborted || !channel.writable) return;
    if (!channel.write(part)) await once(channel, 'drain', { signal: ended.signal }).catch(() => undefined);
    progress();
  }
  if (channel.writable) channel.end();
}
