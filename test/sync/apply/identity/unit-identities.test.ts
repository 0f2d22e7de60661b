import { describe, expect, it } from 'vitest';
import { unitAccounts, unitClient } from '../../../../src/sync/apply/identity/unit-identities.ts';
import { APPLY, createClientBed, NODE, NODES } from '../../../support/kube/client-bed.ts';

describe('unitClient', () => {
  it('S29 writes the objects of a unit as its account, and all others as sync', async () => {
    const { client, sent } = createClientBed({ body: NODE });
    const accounts = unitAccounts([{ unit: 'web', serviceAccount: 'shop/deployer' }]);
    for (const unit of ['web', 'other']) {
      await unitClient({ client, accounts }, unit).apply(NODES, NODE, APPLY);
    }
    await unitClient({ client }, 'web').apply(NODES, NODE, APPLY);
    expect(sent.map(({ impersonate }) => impersonate?.user)).toEqual([
      'system:serviceaccount:shop:deployer',
      undefined,
      undefined,
    ]);
  });
});
