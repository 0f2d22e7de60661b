import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ProxiedRequest } from './proxied-request.ts';
import { openWatches } from './watch-faults.ts';

const EVENT = '{"type":"ADDED"}\n';

describe('openWatches', () => {
  it('ends a watch between two events, also in the middle of the answer of the server', async () => {
    const [watches, watch] = [openWatches(), watchOf(200)];
    const acting = watches.fault.act(watch.proxied);
    watch.server.write(`${EVENT}{"type":"MODI`);
    await watch.wrote(EVENT);
    watches.end(410);
    await acting;
    const [event, error, ...more] = watch.written().split('\n');
    expect([event, JSON.parse(error ?? ''), ...more]).toMatchObject([
      EVENT.trim(),
      { type: 'ERROR', object: { code: 410 } },
      '',
    ]);
  });

  it('ends the next watch, while the server refuses one', async () => {
    const [watches, refused, next] = [openWatches(), watchOf(403), watchOf(200)];
    watches.end(410);
    refused.server.end('{"code":403}');
    await watches.fault.act(refused.proxied);
    expect(refused.written()).toBe('{"code":403}');
    await watches.fault.act(next.proxied);
    expect(next.written()).toContain('"code":410');
  });
});

interface Watch {
  readonly proxied: ProxiedRequest;
  /** What the server answers. */
  readonly server: PassThrough;
  written(): string;
  /** Resolves when the client has received that. */
  wrote(text: string): Promise<void>;
}

function watchOf(serverStatus: number): Watch {
  const server = new PassThrough();
  const pieces = new EventEmitter();
  let written = '';
  const isWritten = (text: string): boolean => written === text;
  const proxied: Partial<ProxiedRequest> = {
    serverStatus,
    open: async () => server,
    begin: () => undefined,
    write: async (piece) => {
      written += piece.toString();
      pieces.emit('written');
    },
    end: () => undefined,
  };
  return {
    proxied: proxied as ProxiedRequest,
    server,
    written: () => written,
    wrote: async (text) => {
      while (!isWritten(text)) await once(pieces, 'written');
    },
  };
}
