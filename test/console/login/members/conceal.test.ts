import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import { concealBearer, concealErrors } from '../../../../src/console/login/members/conceal.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';

describe('concealBearer', () => {
  it('CON-33 replaces the tokens that were sent in errors, also the token before a renewal', async () => {
    const tokens = ['token-1', 'token-2'];
    const { bearer, conceal } = concealBearer(() => Promise.resolve(tokens.shift() ?? ''));
    expect([await bearer(), await bearer()]).toEqual(['token-1', 'token-2']);
    const error = conceal(
      new KubeError('Forbidden', 'got token-1 and token-2', { status: 403, cause: new Error('token-2') }),
    );
    expect(error).toMatchObject({ code: 'Forbidden', status: 403, message: 'got [token] and [token]' });
    expect((error as Error).cause).toBeUndefined();
    expect(conceal(new Error('token-1'))).toEqual(new Error('[token]'));
  });

  it('CON-33 replaces a token that is cut, and keeps the text after it', async () => {
    const long = `eyJhbGciOiJSUzI1NiJ9.${'a-_9'.repeat(220)}`;
    const { bearer, conceal } = concealBearer(() => Promise.resolve(long));
    await bearer();
    expect(conceal(new Error(`got "${long.slice(0, 150)}" and ${long.slice(0, 16)}`))).toEqual(
      new Error('got "[token]" and [token]'),
    );
    expect(conceal(new Error(`${long}, ${long}`))).toEqual(new Error('[token], [token]'));
  });

  it('returns an error without a token as it is', async () => {
    const { bearer, conceal } = concealBearer(() => Promise.resolve('token-1'));
    const error = new KubeError('Unreachable', 'connection refused');
    expect(conceal(error)).toBe(error);
    await bearer();
    expect(conceal(error)).toBe(error);
  });
});

const fail = (): Promise<never> => Promise.reject(new KubeError('Forbidden', 'token-1'));

describe('concealErrors', () => {
  it('CON-33 replaces the token in the errors of all reads, and keeps what they mean', async () => {
    const { bearer, conceal } = concealBearer(() => Promise.resolve('token-1'));
    await bearer();
    async function* failAll(): AsyncGenerator<never> {
      yield await fail();
    }
    const inner = { get: fail, list: fail, create: fail, resources: fail, raw: fail, resourceFor: fail };
    const client = concealErrors({ ...inner, pages: failAll, watch: failAll } as unknown as Client, conceal);
    const name = { name: 'm-1' };
    const object = { apiVersion: 'v1', kind: 'Machine', metadata: name };
    const reads = [
      client.get(MACHINES, name),
      client.list(MACHINES),
      client.create(MACHINES, object),
      client.resources(),
      client.raw('/version'),
      client.resourceFor('v1', 'Node'),
      firstOf(client.pages(MACHINES)),
      firstOf(client.watch(MACHINES, { resourceVersion: '1', timeoutSeconds: 1 })),
    ];
    for (const { status, ...settled } of await Promise.allSettled(reads)) {
      expect([status, settled]).toMatchObject([
        'rejected',
        { reason: { code: 'Forbidden', message: '[token]' } },
      ]);
    }
  });
});

async function firstOf(parts: AsyncIterable<unknown>): Promise<unknown> {
  for await (const part of parts) return part;
  return undefined;
}
