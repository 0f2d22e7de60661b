/** One contract, two transports: answers that go on for minutes. */
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tlsServer } from '../../support/kube/tls-server.ts';
import { drained, firstOf, GET, opener, TRANSPORTS } from '../../support/kube/transport-bed.ts';

describe.each(TRANSPORTS)('%s transport', (_, transportOf) => {
  const open = opener(transportOf);

  describe('a stream', () => {
    it('gives each piece as soon as it is there, and ends with the server', async () => {
      const server = await tlsServer();
      const next = new EventTarget();
      server.answer(async (__, response) => {
        for (const piece of ['one', 'two', 'three']) {
          response.write(piece);
          await once(next, 'go');
        }
        response.end();
      });
      const { status, body } = await open(server.url).stream(GET);
      const pieces: string[] = [];
      for await (const piece of body) {
        pieces.push(Buffer.from(piece).toString());
        next.dispatchEvent(new Event('go'));
      }
      expect([status, ...pieces]).toEqual([200, 'one', 'two', 'three']);
    });

    it('that breaks off rejects in the middle', async () => {
      const server = await tlsServer();
      server.answer((request, response) => response.write('one', () => request.socket.destroy()));
      const { body } = await open(server.url).stream(GET);
      const error = await drained(body);
      expect(error).toMatchObject({ code: 'Unreachable' });
    });

    it('that is left early ends its connection', async () => {
      const server = await tlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const stream = await open(server.url).stream(GET);
      expect(await firstOf(stream)).toBe('one');
      await closed.promise;
    });

    it('that is never read ends by itself, and hurts nobody', async () => {
      const server = await tlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const { status } = await open(server.url).stream({ ...GET, timeoutMs: 1000 });
      await closed.promise;
      expect(status).toBe(200);
    });

    it('has its time limit between two pieces, not over all', async () => {
      const server = await tlsServer();
      let sent = 0;
      server.answer((__, response) => {
        const timer = setInterval(() => {
          sent += 1;
          if (sent <= 8) response.write('.');
        }, 100);
        onTestFinished(() => clearInterval(timer));
      });
      const { body } = await open(server.url).stream({ ...GET, timeoutMs: 700 });
      let pieces = 0;
      const error = await drained(body, () => {
        pieces += 1;
      });
      expect(error).toMatchObject({ code: 'Timeout' });
      expect(pieces).toBe(8);
    });

    it('is given up by its signal', async () => {
      const server = await tlsServer();
      server.answer((__, response) => response.write('one'));
      const giveUp = new AbortController();
      const { body } = await open(server.url).stream({ ...GET, signal: giveUp.signal });
      expect(await drained(body, () => giveUp.abort())).toMatchObject({ code: 'Aborted' });
    });
  });
});
