import { describe, expect, it } from 'vitest';
import { OTHER_KEY, runTokenCanary } from '../../../../src/controllers/hosting/execute/token-canary.ts';
import type { Client } from '../../../../src/kube/client/client.ts';

/** An API server that signs by this key. */
function signing(kid: string, asked: unknown[] = []): Pick<Client, 'create'> {
  const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url');
  const create = async (...args: readonly unknown[]): Promise<unknown> => {
    asked.push(...args);
    return { status: { token: `${header}.e30.signature` } };
  };
  return { create } as Pick<Client, 'create'>;
}

describe('the key that an API server signs tokens by', () => {
  const { signal } = new AbortController();

  it('HOS-22 is asked for by a token of the shortest life for our own ServiceAccount', async () => {
    const asked: unknown[] = [];
    await runTokenCanary(signing('new', asked), 'new', signal);
    expect(asked).toMatchObject([
      { kind: 'ServiceAccount' },
      { kind: 'TokenRequest', spec: { expirationSeconds: 600 } },
      { subresource: 'token' },
    ]);
  });

  it('HOS-22 is refused where it is another one, or cannot be read', async () => {
    await expect(runTokenCanary(signing('old'), 'new', signal)).rejects.toThrow(OTHER_KEY);
    const silent = { create: async () => ({}) } as unknown as Pick<Client, 'create'>;
    await expect(runTokenCanary(silent, 'new', signal)).rejects.toThrow(OTHER_KEY);
  });
});
