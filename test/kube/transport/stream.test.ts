/** One contract for both transports: answers that last for minutes. */
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTlsServer } from '../../support/kube/tls-server.ts';
import { drained, firstOf, GET, opener, TRANSPORTS } from '../../support/kube/transport-bed.ts';

describe.each(TRANSPORTS)('%s transport', (_, transportOf) => {
  const open = opener(transportOf);

  describe('a stream', () => {
    it('returns each chunk when it arrives, and ends when the server ends it', async () => {
      const server = await startTlsServer();
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

    it('rejects when it is cut off', async () => {
      const server = await startTlsServer();
      server.answer((request, response) => response.write('one', () => request.socket.destroy()));
      const { body } = await open(server.url).stream(GET);
      const error = await drained(body);
      expect(error).toMatchObject({ code: 'Unreachable' });
    });

    it('closes its connection when the loop is left early', async () => {
      const server = await startTlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const stream = await open(server.url).stream(GET);
      expect(await firstOf(stream)).toBe('one');
      await closed.promise;
    });

    it('ends without an uncaught error when it is never read', async () => {
      const server = await startTlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const { status } = await open(server.url).stream({ ...GET, timeoutMs: 1000 });
      await closed.promise;
      expect(status).toBe(200);
    });

    it('has a time limit between two chunks, not in total', async () => {
      const server = await startTlsServer();
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

    it('ends with its signal', async () => {
      const server = await startTlsServer();
      server.answer((__, response) => response.write('one'));
      const giveUp = new AbortController();
      const { body } = await open(server.url).stream({ ...GET, signal: giveUp.signal });
      expect(await drained(body, () => giveUp.abort())).toMatchObject({ code: 'Aborted' });
    });
  });
});
