import { describe, expect, it } from 'vitest';
import { listClaimedNames } from '../../../src/controllers/machineset/claimed-names.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NEVER, requestOf } from '../../providers/contract/harness.ts';
import { hosts, type PoolBed, poolBed, poolObject } from '../../providers/ssh/pool/bed.ts';
import { machineSet, template } from '../../support/machine-sets.ts';

const SHAPE = { config: { pool: 'rack7' }, host: 'systemd' } as const;
const SET = machineSet(1, {
  spec: { template: template({ infra: { provider: 'ssh', config: SHAPE.config } }) },
});

function bed(): PoolBed {
  return poolBed(poolObject('rack7', { hosts: hosts(4) }));
}

describe('the names that a set does not give', () => {
  it('MAC-30 are those of machines that have a host, and that have left one unclean', async () => {
    await using one = bed();
    const create = (machine: string): Promise<string> =>
      one.provider.create(requestOf(SHAPE, { machine }), NEVER);
    await create('own-1');
    await one.provider.abandon?.(await create('own-2'), NEVER);
    await one.provider.delete(await create('own-3'), NEVER);
    const client = one.api.connection().client();
    expect((await listClaimedNames(SET, client, NEVER)).toSorted()).toEqual(['own-1', 'own-2']);
  });

  it('are not read for a set of another provider, and are never guessed', async () => {
    await using one = bed();
    const connection = one.api.connection();
    connection.kill();
    const client = connection.client();
    expect(await listClaimedNames(machineSet(1), client, NEVER)).toEqual([]);
    await expect(listClaimedNames(SET, client, NEVER)).rejects.toBeInstanceOf(KubeError);
  });
});
