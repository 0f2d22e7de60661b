import { Duplex } from 'node:stream';
import type { Channel } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { sendInput } from '../../../../src/providers/ssh/channel/send-input.ts';
import { eventually } from '../../../support/eventually.ts';

const PARTS = 5;

interface Sent {
  readonly channel: Channel;
  /** The parts that were taken from the input. */
  readonly taken: readonly number[];
  readonly input: AsyncIterable<Uint8Array>;
  readonly written: readonly number[];
}

/** A channel that keeps each part until `accept` reports it as sent. */
function sending(accept: (done: () => void) => void): Sent {
  const taken: number[] = [];
  const written: number[] = [];
  const duplex = new Duplex({
    highWaterMark: 2 * 1024 ** 2,
    read: () => undefined,
    write(part: Buffer, _encoding, done) {
      written.push(part[0] ?? -1);
      accept(done);
    },
  });
  const channel: Channel = Object.assign(duplex, { stderr: new Duplex() });
  async function* input(): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < PARTS; part += 1) {
      taken.push(part);
      yield new Uint8Array(1024).fill(part);
    }
  }
  return { channel, taken, input: input(), written };
}

const SENT = (done: () => void): void => done();
const ALL = Array.from({ length: PARTS }, (_, part) => part);

describe('sendInput', () => {
  it('sends all parts in order, and ends the channel', async () => {
    const { channel, input, written } = sending(SENT);
    let progress = 0;
    await sendInput({ channel, drained: () => Promise.resolve() }, input, () => {
      progress += 1;
    });
    expect({ written, progress, ended: channel.writableEnded }).toEqual({
      written: ALL,
      progress: PARTS,
      ended: true,
    });
  });

  it('takes no further part while the connection has one in memory', async () => {
    const { channel, input, taken } = sending(SENT);
    const drains: (() => void)[] = [];
    const drained = (): Promise<void> => new Promise((resolve) => void drains.push(resolve));
    let progress = 0;
    const sent = sendInput({ channel, drained }, input, () => {
      progress += 1;
    });
    for (const part of ALL) {
      await eventually(async () => drains.length === part + 1 || undefined, 'the part is not sent');
      expect({ taken: taken.length, progress }).toEqual({ taken: part + 1, progress: part });
      drains.at(-1)?.();
    }
    await sent;
    expect(progress).toBe(PARTS);
  });

  it('takes no further part while the window of the host has no room, and ends with the channel', async () => {
    const { channel, input, taken, written } = sending(() => undefined);
    const sent = sendInput({ channel, drained: () => Promise.resolve() }, input, () => undefined);
    await eventually(async () => written.length > 0 || undefined, 'nothing is sent');
    expect(taken).toEqual([0]);
    channel.destroy();
    await sent;
    expect(taken.length).toBeLessThan(PARTS);
  });

  it('ends when the script ends while the connection waits', async () => {
    const { channel, input } = sending(SENT);
    const drained = (signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended')));
        channel.destroy();
      });
    await sendInput({ channel, drained }, input, () => undefined);
    expect(channel.destroyed).toBe(true);
  });
});
