import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import { waitUntilServed } from '../../../../src/sync/apply/live/crd-watch.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { createFakeCluster } from '../fake-cluster.ts';

const WIDGET = { apiVersion: 'example.com/v1', kind: 'Widget' };
const NEVER = new AbortController().signal;

/** A client that fails with these codes, one for each attempt, and then succeeds. */
function clientAfter(discovery: KubeErrorCode[], lists: KubeErrorCode[]): Client & { forgotten: number } {
  const { client } = createFakeCluster().process();
  const failing = {
    ...client,
    forgotten: 0,
    resourceFor: async (apiVersion: string, kind: string) => {
      fail(discovery);
      return client.resourceFor(apiVersion, kind);
    },
    list: async (...args: Parameters<Client['list']>) => {
      fail(lists);
      return client.list(...args) as never;
    },
    forgetResources: () => {
      failing.forgotten += 1;
    },
  };
  return failing;
}

function fail(codes: KubeErrorCode[]): void {
  const code = codes.shift();
  if (code) throw new KubeError(code, 'not served');
}

describe('waitUntilServed', () => {
  it('S9 waits until discovery lists the kind, and then until it can be read', async () => {
    const clock = virtualClock();
    const client = clientAfter(['NotFound', 'ServerError'], ['NotFound', 'TooManyRequests']);
    const served = waitUntilServed(client, clock, WIDGET, NEVER);
    await clock.advance(1000);
    expect(await served).toMatchObject({ group: 'example.com', kind: 'Widget' });
    expect(client.forgotten).toBe(4);
  });

  it('rejects at once with an error that waiting does not fix', async () => {
    const served = waitUntilServed(clientAfter(['Forbidden'], []), virtualClock(), WIDGET, NEVER);
    await expect(served).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('rejects with the last error after 30 s', async () => {
    const clock = virtualClock();
    const client = clientAfter(
      Array.from({ length: 2000 }, () => 'NotFound' as const),
      [],
    );
    const served = waitUntilServed(client, clock, WIDGET, NEVER).catch((error: unknown) => error);
    await clock.advance(31_000);
    expect(await served).toMatchObject({ code: 'NotFound' });
  });
});
