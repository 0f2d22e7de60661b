/** Parsing the lines of a watch. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import type { Transport } from '../../../src/kube/transport/transport.ts';
import {
  type Answer,
  createClientBed,
  failing,
  NODE,
  NODES,
  SERVER,
  status,
} from '../../support/kube/client-bed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('watch', () => {
  const OPTIONS = { resourceVersion: '5', timeoutSeconds: 60 };
  const bookmark = { apiVersion: 'v1', kind: 'Node', metadata: { resourceVersion: '8' } };

  async function events(client: Client): Promise<string[]> {
    const received: string[] = [];
    for await (const { type, object } of client.watch(NODES, OPTIONS)) {
      received.push(`${type} ${object.metadata.resourceVersion}`);
    }
    return received;
  }

  it('requests bookmarks, from its resourceVersion on', async () => {
    const { client, sent } = createClientBed('');
    expect(await events(client)).toEqual([]);
    expect(sent[0]).toMatchObject({
      path: '/api/v1/nodes',
      query: { watch: '1', allowWatchBookmarks: 'true', resourceVersion: '5', timeoutSeconds: '60' },
    });
  });

  it('returns an event for each line', async () => {
    const { client } = createClientBed(
      line('ADDED', NODE) + line('BOOKMARK', bookmark) + line('DELETED', NODE),
    );
    expect(await events(client)).toEqual(['ADDED 5', 'BOOKMARK 8', 'DELETED 5']);
  });

  it.each<[name: string, body: string | Answer, code: KubeErrorCode]>([
    ['a truncated line', line('ADDED', NODE).slice(0, -10), 'Unreachable'],
    ['a line that is not JSON', 'ADDED\n', 'BadAnswer'],
    ['an unknown type', line('CREATED', NODE), 'BadAnswer'],
    ['another kind', line('ADDED', { ...NODE, kind: 'Pod' }), 'BadAnswer'],
    ['an object without version', line('ADDED', { ...NODE, metadata: { name: 'a' } }), 'BadAnswer'],
    ['an object without name', line('ADDED', { ...NODE, metadata: { resourceVersion: '7' } }), 'BadAnswer'],
    ['no object', line('ADDED', null), 'BadAnswer'],
    ['ERROR without a Status', line('ERROR', NODE), 'BadAnswer'],
    ['ERROR 410', line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }), 'Gone'],
    ['ERROR 410, another reason', line('ERROR', { kind: 'Status', code: 410, reason: 'Gone' }), 'Gone'],
    ['ERROR 500', line('ERROR', { kind: 'Status', code: 500 }), 'ServerError'],
    ['ERROR without a code', line('ERROR', { kind: 'Status' }), 'ServerError'],
    ['an error status', status(403, 'Forbidden'), 'Forbidden'],
    [
      'a refusal to be busy',
      { ...status(429, 'TooManyRequests'), headers: { 'retry-after': '4' } },
      'TooManyRequests',
    ],
    ['the page of a proxy', { status: 404, body: 'nothing here' }, 'BadAnswer'],
  ])('rejects for %s', async (_, body, code) => {
    const error = await failing(events(createClientBed(body).client));
    expect(error.code).toBe(code);
    expect(error.message).toContain(`watch nodes at ${SERVER}`);
  });

  it('joins lines from any chunks', async () => {
    const text = line('ADDED', { ...NODE, note: 'ü€😀' }) + line('MODIFIED', NODE);
    for (const size of [1, 2, 3, 7, 1000]) {
      const transport: Transport = {
        request: () => Promise.reject(new Error('no')),
        stream: () => Promise.resolve({ status: 200, headers: {}, body: inPieces(text, size) }),
        close: () => Promise.resolve(),
      };
      const client = createRestClient(transport, { server: SERVER, clock: virtualClock() });
      const notes: unknown[] = [];
      for await (const { object } of client.watch(NODES, OPTIONS)) notes.push(object['note']);
      expect(notes).toEqual(['ü€😀', undefined]);
    }
  });
});

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}
