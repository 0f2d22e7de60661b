import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createEventStreams } from '../../../src/console/server/streams.ts';
import { NO_STATE } from '../../../src/console/state/state.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** A response that waits behind another one of its connection, as of requests that a client has pipelined. */
function queuedResponse(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

describe('createEventStreams', () => {
  it('writes nothing to a page that was ended, also while its end was not read, and goes on with the others', async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const streams = createEventStreams({
      clock,
      source: { current: () => NO_STATE, subscribe: () => undefined },
    });
    const running = streams.run(stop.signal);
    const [ended, open] = [queuedResponse(), queuedResponse()];
    const errors: unknown[] = [];
    ended.on('error', (error) => errors.push(error));
    for (const response of [ended, open]) expect(streams.add(response, 'a')).toBe(true);
    ended.end();
    const before = open.writableLength;
    await clock.advance(15_000);
    expect([errors, streams.size]).toEqual([[], 1]);
    expect(open.writableLength).toBeGreaterThan(before);
    stop.abort();
    await running;
  });
});
