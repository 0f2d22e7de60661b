import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { listClaimedNames } from '../../../../src/providers/ssh/pool/claimed-names.ts';
import { NEVER, requestOf } from '../../contract/harness.ts';
import { hosts, type PoolBed, poolBed, poolObject } from './bed.ts';

const SHAPE = { config: { pool: 'rack7' }, host: 'systemd' } as const;

function bed(): PoolBed {
  return poolBed(poolObject('rack7', { hosts: hosts(4) }));
}

describe('the names of machines that have hosts of pools', () => {
  it('MAC-30 are those of machines with a host, and of those that have left one unclean', async () => {
    await using one = bed();
    const create = (machine: string): Promise<string> =>
      one.provider.create(requestOf(SHAPE, { machine }), NEVER);
    await create('own-1');
    await one.provider.abandon?.(await create('own-2'), NEVER);
    await one.provider.delete(await create('own-3'), NEVER);
    const names = await listClaimedNames(one.api.connection().client(), NEVER);
    expect(new Set(names)).toEqual(new Set(['own-1', 'own-2']));
  });

  it('are unknown when they cannot be read', async () => {
    await using one = bed();
    const connection = one.api.connection();
    connection.kill();
    await expect(listClaimedNames(connection.client(), NEVER)).rejects.toBeInstanceOf(KubeError);
  });
});
