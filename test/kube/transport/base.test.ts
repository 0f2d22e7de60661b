import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createTransport } from '../../../src/kube/transport/base.ts';
import type { Transport } from '../../../src/kube/transport/transport.ts';

/** Over a wire that answers with this body. */
function transportWith(body: Readable): Transport {
  const wire = { send: async () => ({ status: 200, headers: {}, body }), close: async () => undefined };
  const credentials = { current: async () => ({ tls: {}, headers: {} }), forget: () => undefined };
  return createTransport(wire, { server: 'https://one', credentials }, {});
}

describe('a transport over any wire', () => {
  it('reads an answer that comes in pieces', async () => {
    const answer = await transportWith(Readable.from(['{"a"', ':1}'])).request({ method: 'GET', path: '/' });
    expect(answer).toEqual({ status: 200, headers: {}, body: '{"a":1}' });
  });

  it('rejects an answer that is closed in the middle without an error', async () => {
    const body = new Readable({ read: () => undefined });
    body.push('{"a"');
    const answer = transportWith(body).request({ method: 'GET', path: '/' });
    setImmediate(() => void body.destroy());
    await expect(answer).rejects.toMatchObject({ name: 'KubeError' });
  });
});
