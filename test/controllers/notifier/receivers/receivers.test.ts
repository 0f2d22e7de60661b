import { describe, expect, it } from 'vitest';
import { parseNotifications } from '../../../../src/controllers/notifier/receivers/config.ts';
import { createReceivers } from '../../../../src/controllers/notifier/receivers/receivers.ts';
import type { ExchangeAnswer, ExchangeRequest } from '../../../../src/os/net/exchange.ts';
import type { SendOutcome } from '../../../../src/os/net/sender.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { notice } from '../jobs.ts';

const FILES = { '/slack': 'https://hooks.example.com/T0/secret\n', '/empty': ' \n', '/token': 'one' };
const CONFIG = parseNotifications(
  JSON.stringify({
    receivers: [
      { name: 'tickets', type: 'Webhook', url: 'https://tickets.example.com', tokenFile: '/token' },
      { name: 'chat', type: 'Slack', urlFile: '/slack' },
      { name: 'other', type: 'Slack', urlFile: '/empty' },
    ],
  }),
  'file',
);

interface Bed {
  readonly clock: VirtualClock;
  readonly requests: (readonly [string, ExchangeRequest])[];
  readonly files: Record<string, string>;
  answer: () => ExchangeAnswer;
  send: (receiver: string) => Promise<SendOutcome>;
}

function bedWith(status = 200, headers: Record<string, string> = {}): Bed {
  const clock = virtualClock();
  const requests: (readonly [string, ExchangeRequest])[] = [];
  const files: Record<string, string> = { ...FILES };
  const receivers = createReceivers({
    config: CONFIG,
    clock,
    random: () => 0,
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return text;
    },
    exchange: async (url, request) => {
      requests.push([url, request]);
      return bed.answer();
    },
  });
  const bed: Bed = {
    clock,
    requests,
    files,
    answer: () => ({ status, headers: new Headers(headers), body: 'invalid: top secret' }),
    send: (receiver) => receivers.send({ receiver, notice: notice() }, new AbortController().signal),
  };
  return bed;
}

describe('the receivers', () => {
  it('read the URL or the token at each delivery, so that a replaced one counts', async () => {
    const bed = bedWith();
    await bed.send('tickets');
    bed.files['/token'] = 'two\n';
    await bed.send('tickets');
    expect(await bed.send('chat')).toMatchObject({ outcome: 'Delivered' });
    expect(
      bed.requests.map(([url, { method, headers }]) => [url, method, headers?.['authorization']]),
    ).toEqual([
      ['https://tickets.example.com', 'POST', 'Bearer one'],
      ['https://tickets.example.com', 'POST', 'Bearer two'],
      ['https://hooks.example.com/T0/secret', 'POST', undefined],
    ]);
  });

  it.each([
    [302, 'Failed', 5000],
    [400, 'Refused', 300_000],
    [401, 'Failed', 5000],
    [404, 'Failed', 5000],
    [422, 'Refused', 300_000],
    [429, 'Failed', 5000],
    [503, 'Failed', 5000],
  ])(
    'tell of status %d that the notice is %s, and never quote the answer',
    async (status, outcome, retryMs) => {
      const because = `it answered with status ${status}`;
      expect(await bedWith(status).send('chat')).toEqual({ outcome, because, retryMs });
    },
  );

  it('wait for as long as a receiver asks, but never longer than five minutes', async () => {
    expect(await bedWith(429, { 'retry-after': '60' }).send('chat')).toMatchObject({ retryMs: 60_000 });
    expect(await bedWith(429, { 'retry-after': '86400' }).send('chat')).toMatchObject({ retryMs: 300_000 });
  });

  it('leave a receiver alone that does not answer, longer each time, and no other one', async () => {
    const bed = bedWith();
    bed.answer = () => {
      throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    };
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 9; attempt += 1) {
      const failed = await bed.send('chat');
      expect(failed).toMatchObject({
        outcome: 'Failed',
        because: 'the connection was refused: nothing listens there',
      });
      const pauseMs = failed.outcome === 'Failed' ? failed.retryMs : 0;
      expect(await bed.send('chat')).toEqual({ outcome: 'Postponed', retryMs: pauseMs });
      pauses.push(pauseMs / 1000);
      await bed.clock.advance(pauseMs);
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect(bed.requests).toHaveLength(9);
    bed.answer = bedWith().answer;
    expect(await bed.send('tickets')).toMatchObject({ outcome: 'Delivered' });
    expect(await bed.send('chat')).toMatchObject({ outcome: 'Delivered' });
    // It is well again: the next pause is short.
    bed.answer = bedWith(503).answer;
    expect(await bed.send('chat')).toMatchObject({ retryMs: 5000 });
  });

  it('go on with other notices after one that is refused', async () => {
    const bed = bedWith(400);
    await bed.send('chat');
    expect(await bed.send('chat')).toMatchObject({ outcome: 'Refused' });
    expect(bed.requests).toHaveLength(2);
  });

  it('name a file that cannot be read, or is empty', async () => {
    const bed = bedWith();
    delete bed.files['/token'];
    expect(await bed.send('tickets')).toMatchObject({ because: "ENOENT: no such file, open '/token'" });
    expect(await bed.send('other')).toMatchObject({ because: 'the file /empty is empty' });
    expect(bed.requests).toEqual([]);
  });

  it('reject when they are stopped, so that nothing counts as a failure', async () => {
    const stop = new AbortController();
    const receivers = createReceivers({
      config: CONFIG,
      clock: virtualClock(),
      random: () => 0,
      readFile: async () => 'https://hooks.example.com',
      exchange: async () => {
        stop.abort(new Error('the Lease is lost'));
        throw new Error('aborted');
      },
    });
    const sent = receivers.send({ receiver: 'chat', notice: notice() }, stop.signal);
    await expect(sent).rejects.toThrow('the Lease is lost');
  });
});
