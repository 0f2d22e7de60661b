import { describe, expect, it } from 'vitest';
import { MACHINE_INDEXERS, silentMachinesOf } from '../../../src/api/diagnosis/silent-machines.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import { ago, machine } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

describe('silentMachinesOf', () => {
  it('R20 finds the silent machines that name a machine as a peer', () => {
    const store = createStore<Machine>({ log: memoryLog(), indexers: MACHINE_INDEXERS });
    const silence = { address: '10.0.0.1', port: 10_250, since: ago(1), peers: ['p-1', 'p-2'] };
    store.put(machine('s-1', { status: { silence } }));
    store.put(machine('s-2', { status: { silence: { ...silence, peers: ['p-2'] } } }));
    store.put(machine('p-1'));
    const names = (peer: string): readonly string[] =>
      silentMachinesOf(peer, store).map(({ metadata }) => metadata.name);
    expect([names('p-1'), names('p-2'), names('s-1')]).toEqual([['s-1'], ['s-1', 's-2'], []]);
  });
});
