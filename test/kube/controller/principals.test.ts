import { expect, it, vi } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import {
  createPrincipalClients,
  impersonateServiceAccount,
  type PrincipalOptions,
} from '../../../src/kube/controller/principals.ts';

it('impersonates a ServiceAccount without groups: the API server adds its groups', () => {
  expect(impersonateServiceAccount({ namespace: 'kubenode-system', name: 'kubenode-machine' })).toEqual({
    user: 'system:serviceaccount:kubenode-system:kubenode-machine',
  });
  expect(() => impersonateServiceAccount({ name: 'x' })).toThrow('namespace is missing');
});

it('connects once for each identity, always fenced, and closes all', async () => {
  const asked: PrincipalOptions[] = [];
  let closed = 0;
  const fence = vi.fn<() => void>();
  const clients = createPrincipalClients(async (principal) => {
    asked.push(principal);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of the port that is used here
    return { close: async () => void (closed += 1) } as unknown as Client;
  }, fence);
  const account = { namespace: 'n', name: 'a' };
  const [one, again, own] = await Promise.all([
    clients.clientFor(account),
    clients.clientFor({ ...account }),
    clients.clientFor(undefined),
  ]);
  expect(one).toBe(again);
  expect(own).not.toBe(one);
  expect(asked).toEqual([{ fence, impersonate: { user: 'system:serviceaccount:n:a' } }, { fence }]);
  await clients.close();
  expect(closed).toBe(2);
});
