import { describe, expect, it } from 'vitest';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const RESOURCE = { group: 'test', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };

describe('waitUntilServed', () => {
  it('S9 waits until discovery lists the kind, and then until it can be read', async () => {
    const { clock, wait, forgotten } = server(['NotFound', undefined, undefined], ['ServerError', undefined]);
    const resource = wait();
    await clock.advance(200);
    expect(await resource).toEqual(RESOURCE);
    expect(forgotten()).toBe(2);
  });

  it('rejects at once with an error that does not pass', async () => {
    await expect(server(['Forbidden'], []).wait()).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('takes a kind for served that may not be listed', async () => {
    expect(await server([undefined], ['Forbidden']).wait()).toEqual(RESOURCE);
  });

  it('rejects with the last error when the kind is not served in time', async () => {
    const { clock, wait } = server(Array<KubeErrorCode>(1000).fill('NotFound'), []);
    const outcome = wait().catch((error: unknown) => error);
    await clock.advance(31_000);
    expect(await outcome).toMatchObject({ code: 'NotFound' });
  });
});

/** A server with these answers to discovery and to lists; undefined is a success. */
function server(
  discovery: (KubeErrorCode | undefined)[],
  lists: (KubeErrorCode | undefined)[],
): {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly wait: () => Promise<unknown>;
  readonly forgotten: () => number;
} {
  const clock = virtualClock();
  let forgotten = 0;
  const client = {
    resourceFor: () => answer(discovery.shift(), RESOURCE),
    list: () => answer(lists.shift(), { items: [], resourceVersion: '1' }),
    forgetResources: () => {
      forgotten += 1;
    },
  };
  const ref = { apiVersion: 'test/v1', kind: 'Thing' };
  return {
    clock,
    wait: () => waitUntilServed(client, clock, ref, new AbortController().signal),
    forgotten: () => forgotten,
  };
}

function answer<T>(code: KubeErrorCode | undefined, value: T): Promise<T> {
  return code ? Promise.reject(new KubeError(code, 'no')) : Promise.resolve(value);
}
